/** Long work that the service does: how far it is, and the ways to stop it and go on. */
import type { Job } from "../../api/model";
import type { Service } from "../../api/service";

export class Jobs {
  all = $state.raw<readonly Job[]>([]);
  running = $derived(this.all.filter((job) => job.state === "running" || job.state === "queued"));

  constructor(private readonly service: Service) {}

  async load(): Promise<void> {
    this.all = await this.service.jobs();
  }

  heard(job: Job): void {
    const known = this.all.some((other) => other.id === job.id);
    this.all = known ? this.all.map((other) => (other.id === job.id ? job : other)) : [...this.all, job];
  }

  /** A job that this page began, as it stands now: news of it may have been quicker than the answer. */
  begun(job: Job): Job {
    const known = this.all.find((other) => other.id === job.id);
    if (!known) this.heard(job);
    return known ?? job;
  }

  async cancel(id: string): Promise<void> {
    this.heard(await this.service.cancel(id));
  }

  async resume(id: string): Promise<void> {
    this.heard(await this.service.resume(id));
  }
}
