/** A row of a table, by the heading of each column. */
export type TableRow = Readonly<Record<string, string>>

/** The rows of every table of a Markdown text that has a column with this heading. */
export const readTable = (markdown: string, heading: string): readonly TableRow[] => {
  const tables = markdown
    .split(/\n(?!\|)/)
    .map((block) => block.split('\n').filter((line) => line.startsWith('|')))
  return tables.flatMap(([head = '', , ...rows]) => {
    const headings = readCells(head)
    if (!headings.includes(heading)) return []
    return rows.map((row) => Object.fromEntries(readCells(row).map((cell, at) => [headings[at] ?? '', cell])))
  })
}

const readCells = (line: string): readonly string[] =>
  line
    .replace(/^\|/, '')
    .replace(/\|\s*$/, '')
    .split('|')
    .map((cell) => cell.trim())

/** What stands between backticks. */
export const readCodeSpans = (text: string): readonly string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span ?? '')
