/** What is wrong with one setting; `what` goes on from its name. */
export type Wrong = (setting: "baseUrl" | "key", what: string) => Error;

/** Where `resource`, like `embeddings`, is asked for. Throws what `wrong` makes of a base that cannot be used. */
export function resourceUrl(baseUrl: string, resource: string, wrong: Wrong): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw wrong("baseUrl", "is not a URL; give one like https://api.openai.com/v1");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw wrong("baseUrl", `begins with ${url.protocol}; only http: and https: are known`);
  if (url.username !== "" || url.password !== "")
    throw wrong("baseUrl", "holds a user or password, which would show in messages; put the key into `key`");
  if (url.search !== "" || url.hash !== "")
    throw wrong("baseUrl", "ends in a query or fragment, which requests would not carry; leave it away");
  const path = url.pathname.replace(/\/+$/, "");
  // Some providers count their versions otherwise; what ends in a version is taken for the whole base.
  if (path.endsWith(`/${resource}`)) url.pathname = path;
  else url.pathname = /\/v\d+$/.test(path) ? `${path}/${resource}` : `${path}/v1/${resource}`;
  return url.href;
}

/** Whatever else stood in a header would be refused by the HTTP library, in an error that might show it. */
export function checkKey(key: string | undefined, wrong: Wrong): void {
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    throw wrong("key", "has blanks, line breaks or letters which no header may hold; check how it was copied");
}
