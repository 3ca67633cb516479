import type { JSX } from 'preact'

export interface PageInput {
  /** Parts of the path that its pattern names. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
}

export interface ConsolePage {
  /** Such as `/console/payments/:id`. */
  readonly path: string
  /** In the navigation; null: it is reached from another page. */
  readonly label: string | null
  /** Also without a key; absent: only for whom is signed in. */
  readonly isOpen?: true
  readonly render: (input: PageInput) => JSX.Element
}
