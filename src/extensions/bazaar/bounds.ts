// Control, format (zero width, bidirectional), private use and unassigned characters, variation selectors, and
// letters that render as nothing.
const hidden = /\p{C}|\p{Zl}|\p{Zp}|\p{Variation_Selector}|[\u115f\u1160\u3164\uffa0]|\u034f|\u17b4|\u17b5/u
const allHidden = new RegExp(hidden.source, 'gu')

export const hasHiddenCharacters = (text: string): boolean => hidden.test(text)

/** Plain text on one line, at most `maxLength` UTF-16 units; null if nothing is left or it is no text. */
export const readVisibleText = (value: unknown, maxLength: number): string | null => {
  if (typeof value !== 'string') return null
  const text = value
    .slice(0, maxLength * 2)
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(allHidden, '')
    .trim()
    .slice(0, maxLength)
    // A pair that was cut in half.
    .replace(/[\ud800-\udbff]$/, '')
  return text === '' ? null : text
}

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
