interface Page<Item> {
  readonly items: readonly Item[]
  /** Spread into the answer; it is empty on the last page. */
  readonly next: { readonly nextCursor?: string }
}

/** Reads one item more than the page has, which says whether there is another page. */
export const readPage = async <Item>(
  limit: number,
  read: (limit: number) => Promise<readonly Item[]>,
  idOf: (item: Item) => string,
): Promise<Page<Item>> => {
  const found = await read(limit + 1)
  const items = found.slice(0, limit)
  const last = found.length > limit ? items.at(-1) : undefined
  return { items, next: last === undefined ? {} : { nextCursor: idOf(last) } }
}
