/**
 * The servers that an address names, in order, as libpq writes them: `postgres://role@one:5432,two:5433/db`, or several
 * in the parameters `host` and `port`. Each is returned as an address of its own.
 */
export function addressesOf(url: string): string[] {
  const parts = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)([^?#]*)(?:\?([^#]*))?$/.exec(url);
  if (parts === null) return [url];
  const [, before = "", authority = "", path = "", query = ""] = parts;
  const parameters = new URLSearchParams(query);
  const [hosts, ports] = [listIn(parameters, "host"), listIn(parameters, "port")];
  const places = authority.split(",");
  const count = Math.max(places.length, hosts.length);
  return Array.from({ length: count }, (_, at) => {
    const own = new URLSearchParams(parameters);
    if (hosts.length > 0) own.set("host", itemAt(hosts, at));
    if (ports.length > 0) own.set("port", itemAt(ports, at));
    return `${before}${itemAt(places, at)}${path}${own.size > 0 ? `?${own.toString()}` : ""}`;
  });
}

const listIn = (parameters: URLSearchParams, name: string): string[] => parameters.get(name)?.split(",") ?? [];

/** One item stands for all. */
const itemAt = (items: readonly string[], at: number): string => items[at] ?? items[0] ?? "";
