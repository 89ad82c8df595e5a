/** A refusal of the service, with its own words. */
export class ApiError extends Error {
  constructor(
    readonly kind: string,
    message: string,
    readonly status: number,
  ) {
    super(message);
    this.name = "ApiError";
  }

  get damaged(): boolean {
    return this.kind === "DamagedPart";
  }
}

/** Nobody answered: the service was stopped, or the network is gone. */
export class Unreachable extends Error {
  constructor() {
    super("The innerview service does not answer.");
    this.name = "Unreachable";
  }
}

export const isAbort = (problem: unknown): boolean => problem instanceof DOMException && problem.name === "AbortError";

export const messageOf = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem));
