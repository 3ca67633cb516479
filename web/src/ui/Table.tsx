import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  readonly label: string
  readonly render: (row: Row) => ComponentChildren
  /** `end`: numbers. */
  readonly align?: 'start' | 'end'
  /** Hidden where the screen is narrow. */
  readonly isExtra?: boolean
}

interface TableProps<Row> {
  /** For readers of the screen. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly getKey: (row: Row) => string
  readonly getClass?: (row: Row) => string
}

/** The first column names the row. */
export const Table = <Row,>({ caption, columns, rows, getKey, getClass }: TableProps<Row>) => (
  <table>
    <caption class="hidden">{caption}</caption>
    <thead>
      <tr>
        {columns.map((column) => (
          <th key={column.label} scope="col" class={classOf(column)}>
            {column.label}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <tr key={getKey(row)} class={getClass?.(row) ?? ''}>
          {columns.map((column, index) =>
            index === 0 ? (
              <th key={column.label} scope="row" class={classOf(column)}>
                {column.render(row)}
              </th>
            ) : (
              <td key={column.label} class={classOf(column)}>
                {column.render(row)}
              </td>
            ),
          )}
        </tr>
      ))}
    </tbody>
  </table>
)

const classOf = ({ align = 'start', isExtra = false }: Pick<Column<unknown>, 'align' | 'isExtra'>): string =>
  `${align}${isExtra ? ' extra' : ''}`
