/** Long work that the service does: how far it is, and the ways to stop it and go on. */
import type { Job } from "../../api/model";
import type { Service } from "../../api/service";

export class Jobs {
  all = $state.raw<readonly Job[]>([]);
  running = $derived(this.all.filter((job) => job.state === "running" || job.state === "queued"));

  constructor(private readonly service: Service) {}

  async load(): Promise<void> {
    const told = await this.service.jobs();
    this.all = told.map((job) => this.newer(job));
  }

  /** The job as it stands now: news on the socket and answers to requests come in any order. */
  heard(job: Job): Job {
    const now = this.newer(job);
    const known = this.all.some((other) => other.id === job.id);
    this.all = known ? this.all.map((other) => (other.id === job.id ? now : other)) : [...this.all, now];
    return now;
  }

  async cancel(id: string): Promise<void> {
    this.heard(await this.service.cancel(id));
  }

  async resume(id: string): Promise<void> {
    this.heard(await this.service.resume(id));
  }

  private newer(job: Job): Job {
    const known = this.all.find((other) => other.id === job.id);
    return known && known.changes > job.changes ? known : job;
  }
}
