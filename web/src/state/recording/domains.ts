/** The domains of a paired recording: simulated first, real last, others between them as they come. */
import type { ArraySpec } from "../../api/model";

const place = (domain: string): number => (isSim(domain) ? 0 : isReal(domain) ? 2 : 1);

export const isSim = (domain: string): boolean => /^sim/i.test(domain);
export const isReal = (domain: string): boolean => /^real/i.test(domain);

export function domainsOf(arrays: readonly Pick<ArraySpec, "domain">[]): string[] {
  const found = [...new Set(arrays.map((array) => array.domain).filter(Boolean))];
  return found.sort((one, other) => place(one) - place(other));
}
