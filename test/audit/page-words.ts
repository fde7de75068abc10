/** The words of a page, without its style sheet and with its entities decoded. */
export function wordsOf(page: string): string {
  const body = page.slice(page.indexOf("<body>"));
  const entities: Record<string, string> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&", nbsp: " " };
  return body
    .replace(/<\/t[dh]>/g, " ")
    .replace(/<[^>]*>/g, "")
    .replace(/&(lt|gt|quot|#39|amp|nbsp);/g, (_, name: string) => entities[name] ?? "")
    .replace(/\s+/g, " ");
}
