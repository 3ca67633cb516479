/** A Markdown table; rows are printed immediately. */
export interface Table {
  row(...cells: readonly string[]): void
}

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

export interface Column {
  readonly name: string
  readonly width: number
}

export const facilitatorColumn: Column = { name: 'facilitator', width: 21 }

/** Columns as wide as their names, at least 9 characters. */
export const toColumns = (...names: readonly string[]): readonly Column[] =>
  names.map((name) => ({ name, width: Math.max(name.length, 9) }))

/** Rounded for display; a dash if not finite. */
export const figure = (value: number): string => {
  if (!Number.isFinite(value)) return '–'
  if (value >= 100) return value.toFixed(0)
  return value.toFixed(value >= 10 ? 1 : 2)
}

export const times = (ours: number, reference: number): string =>
  reference === 0 ? '–' : `${figure(ours / reference)} ×`

export const describeConnections = (count: number): string =>
  count === 1 ? '1 connection' : `${count} connections`
