/** How pictures of one row stand: a line for each pair, a column for each domain. */
import type { ArraySpec } from "../../api/model";
import { domainsOf } from "../../state/recording/domains";

type Pictured = Pick<ArraySpec, "name" | "domain" | "pair">;

/** Pairs first, each in the order of its domains; then what has no partner. */
export function byPair<Array extends Pictured>(arrays: readonly Array[]): Array[] {
  const domains = domainsOf(arrays);
  const pairs = [...new Set(arrays.map((array) => array.pair).filter(Boolean))];
  const place = ({ pair, domain }: Pictured): number =>
    (pair ? pairs.indexOf(pair) : pairs.length) * (domains.length + 1) +
    (domain ? domains.indexOf(domain) : domains.length);
  return arrays.toSorted((one, other) => place(one) - place(other));
}
