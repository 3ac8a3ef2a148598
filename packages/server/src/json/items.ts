const QUOTE = 34;
const BACKSLASH = 92;

/** The raw text of each item of a JSON array, which must be valid: so that what is in them can be passed on to the digit. */
export function itemsOf(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let start = -1;
  const end = (at: number): void => {
    const item = text.slice(start, at).trim();
    // Between the brackets of an empty array there is no item.
    if (item !== "") items.push(item);
    start = at + 1;
  };
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        for (i++; i < text.length && text.charCodeAt(i) !== QUOTE; i++) if (text.charCodeAt(i) === BACKSLASH) i++;
        break;
      case 91: // [
      case 123: // {
        if (++depth === 1) start = i + 1;
        break;
      case 93: // ]
      case 125: // }
        if (depth-- === 1) end(i);
        break;
      case 44: // ,
        if (depth === 1) end(i);
        break;
    }
  }
  return items;
}
