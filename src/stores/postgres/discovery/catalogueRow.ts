import { z } from 'zod'
import type { CatalogueEntry, StatedListing } from '../../../ports/discovery.js'

const terms = z.object({
  scheme: z.string(),
  network: z.string(),
  asset: z.string(),
  payTo: z.string(),
  amount: z.string(),
  maxTimeoutSeconds: z.number(),
  extra: z.record(z.string(), z.unknown()),
})

const row = z.object({
  id: z.string(),
  url: z.string(),
  tool_name: z.string(),
  type: z.enum(['http', 'mcp']),
  state: z.enum(['listed', 'stale', 'unlisted']),
  account_id: z.string().nullable(),
  method: z.string().nullable(),
  version: z.union([z.literal(1), z.literal(2)]),
  declaration: z.record(z.string(), z.unknown()),
  terms: z.array(terms),
  extension_keys: z.array(z.string()),
  description: z.string().nullable(),
  mime_type: z.string().nullable(),
  service_name: z.string().nullable(),
  tags: z.array(z.string()),
  icon_url: z.string().nullable(),
  payers: z.number(),
  first_settled_at: z.date(),
  last_settled_at: z.date(),
  owner_changed_at: z.date().nullable(),
})

const statedRow = z.object({
  stated: z
    .object({
      // In the order of `readEntry`: what is equal is written alike.
      resource: z
        .object({
          key: z.object({ url: z.string(), toolName: z.string() }),
          type: row.shape.type,
          method: row.shape.method,
          version: row.shape.version,
          declaration: row.shape.declaration,
          extensionKeys: z.array(z.string()),
          description: row.shape.description,
          mimeType: z.string().nullable(),
          serviceName: z.string().nullable(),
          tags: row.shape.tags,
          iconUrl: z.string().nullable(),
        })
        .nullable(),
      recipients: z.array(z.object({ network: z.string(), payTo: z.string() })),
      offers: z.array(terms),
      at: z.iso.datetime(),
    })
    .nullable(),
})

export const writeStated = (stated: StatedListing): string => JSON.stringify(stated)

export const readStated = (value: unknown): StatedListing | null => {
  const { stated } = statedRow.parse(value)
  return stated === null ? null : { ...stated, at: new Date(stated.at) }
}

/** Columns of `discovery_resources r`. */
export const entryColumns = Object.keys(row.shape)
  .map((column) => `r.${column}`)
  .join(', ')

export const readEntry = (value: unknown): CatalogueEntry => {
  const { url, tool_name: toolName, ...entry } = row.parse(value)
  return {
    id: entry.id,
    state: entry.state,
    accountId: entry.account_id,
    resource: {
      key: { url, toolName },
      type: entry.type,
      method: entry.method,
      version: entry.version,
      declaration: entry.declaration,
      extensionKeys: entry.extension_keys,
      description: entry.description,
      mimeType: entry.mime_type,
      serviceName: entry.service_name,
      tags: entry.tags,
      iconUrl: entry.icon_url,
    },
    terms: entry.terms,
    payers: entry.payers,
    firstSettledAt: entry.first_settled_at,
    lastSettledAt: entry.last_settled_at,
    ownerChangedAt: entry.owner_changed_at,
  }
}
