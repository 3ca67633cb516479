import type { Fields } from '../protocol/fields.js'

/** How a resource may be paid. */
export interface ListedTerms {
  readonly scheme: string
  /** CAIP-2 identifier. */
  readonly network: string
  readonly asset: string
  readonly payTo: string
  /** Smallest units; of scheme `upto` the maximum. */
  readonly amount: string
  readonly maxTimeoutSeconds: number
  readonly extra: Fields
}

/** What is published of a resource, but for its terms. */
export interface ListedResource {
  /** With `toolName` unique. */
  readonly key: { readonly url: string; readonly toolName: string }
  readonly type: 'http' | 'mcp'
  /** Null for MCP. */
  readonly method: string | null
  readonly version: 1 | 2
  /** `{ info, schema, routeTemplate? }`. */
  readonly declaration: Fields
  readonly extensionKeys: readonly string[]
  readonly description: string | null
  readonly mimeType: string | null
  readonly serviceName: string | null
  readonly tags: readonly string[]
  readonly iconUrl: string | null
}

/** What a resource says of itself. */
export interface StatedListing {
  /** Null: nothing that could be listed. */
  readonly resource: ListedResource | null
  /** Whom it wants paid, folded. */
  readonly recipients: readonly Pick<ListedTerms, 'network' | 'payTo'>[]
  /** How it wants to be paid: its terms that are complete. */
  readonly offers: readonly ListedTerms[]
  readonly at: Date
}
