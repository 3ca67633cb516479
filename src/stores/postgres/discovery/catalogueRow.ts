import { z } from 'zod'
import type { CatalogueEntry, StatedListing } from '../../../ports/discovery.js'
import { selectColumns } from '../database/statements.js'

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
  toolName: z.string(),
  type: z.enum(['http', 'mcp']),
  state: z.enum(['listed', 'stale', 'unlisted']),
  accountId: z.string().nullable(),
  method: z.string().nullable(),
  version: z.union([z.literal(1), z.literal(2)]),
  declaration: z.record(z.string(), z.unknown()),
  terms: z.array(terms),
  extensionKeys: z.array(z.string()),
  description: z.string().nullable(),
  mimeType: z.string().nullable(),
  serviceName: z.string().nullable(),
  tags: z.array(z.string()),
  iconUrl: z.string().nullable(),
  payers: z.number(),
  firstSettledAt: z.date(),
  lastSettledAt: z.date(),
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
export const entryColumns = selectColumns('r', row.shape)

export const readEntry = (value: unknown): CatalogueEntry => {
  const { id, state, accountId, url, toolName, terms: accepted, ...entry } = row.parse(value)
  const { payers, firstSettledAt, lastSettledAt, ...resource } = entry
  return {
    id,
    state,
    accountId,
    resource: { key: { url, toolName }, ...resource },
    terms: accepted,
    payers,
    firstSettledAt,
    lastSettledAt,
  }
}
