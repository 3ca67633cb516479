interface JsonSize {
  readonly depth: number
  /** Keys and array elements. */
  readonly nodes: number
}

/** Without recursion; stops beyond `maxNodes`. */
export const measureJson = (value: unknown, maxNodes: number): JsonSize => {
  let depth = 0
  let nodes = 0
  let level: readonly object[] = isContainer(value) ? [value] : []
  while (level.length > 0 && nodes <= maxNodes) {
    depth += 1
    const inner: object[] = []
    for (const container of level) {
      for (const item of listItems(container)) {
        nodes += 1
        if (isContainer(item)) inner.push(item)
      }
      if (nodes > maxNodes) break
    }
    level = inner
  }
  return { depth, nodes }
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

const listItems = (container: object): readonly unknown[] =>
  Array.isArray(container) ? container : Object.values(container)
