import type { JobOf } from "../../api/model";

/** What a form asks for, whichever recording is open. */
export type Asked =
  Omit<JobOf<"table">, "recording"> | Omit<JobOf<"sweep">, "recording"> | Omit<JobOf<"smallest_memory">, "recording">;
