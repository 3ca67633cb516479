/** A table in Markdown whose rows are printed as they come. */
export interface Table {
  row(...cells: readonly string[]): void
}

/** Prints a title, a caption and the head of a table. */
export const printTable = (title: string, caption: string, columns: readonly Column[]): Table => {
  const print = (cells: readonly string[]): void => {
    const padded = columns.map(({ width }, index) => (cells[index] ?? '').padEnd(width))
    console.log(`| ${padded.join(' | ')} |`)
  }
  console.log(`\n## ${title}\n\n${caption}\n`)
  print(columns.map(({ name }) => name))
  print(columns.map(({ width }) => '-'.repeat(width)))
  return { row: (...cells) => print(cells) }
}

/** A column of a table. */
export interface Column {
  readonly name: string
  /** Characters, at least those of the name. */
  readonly width: number
}

/** Who a row is about; as wide as the longest name. */
export const facilitatorColumn: Column = { name: 'facilitator', width: 21 }

/** Columns as wide as their names, but no narrower than a figure. */
export const toColumns = (...names: readonly string[]): readonly Column[] =>
  names.map((name) => ({ name, width: Math.max(name.length, 9) }))

/** A figure with a sensible number of digits; a dash for what could not be measured. */
export const figure = (value: number): string => {
  if (!Number.isFinite(value)) return '–'
  if (value >= 100) return value.toFixed(0)
  return value.toFixed(value >= 10 ? 1 : 2)
}

/** How many times one figure is the other. */
export const times = (ours: number, reference: number): string =>
  reference === 0 ? '–' : `${figure(ours / reference)} ×`

/** How many connections, in words. */
export const describeConnections = (count: number): string =>
  count === 1 ? '1 connection' : `${count} connections`
