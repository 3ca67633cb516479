import { z } from 'zod'

/* Answers of the discovery endpoints: one form that x402, t402 and the specification's clients read alike. */

const timestamp = z.iso.datetime()
const versionNumber = z.int().meta({ description: 'Protocol version, 1 or 2' })

const listedTerms = z
  .object({
    scheme: z.string(),
    network: z.string().meta({ description: 'CAIP-2 identifier' }),
    amount: z.string().meta({ description: 'Smallest units; scheme `upto`: the maximum' }),
    maxAmountRequired: z.string().optional().meta({ description: 'Version 1: the same as `amount`' }),
    asset: z.string(),
    payTo: z.string(),
    maxTimeoutSeconds: z.number(),
    extra: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'ListedTerms', description: 'Terms of a settled payment for the resource' })

export const compactResource = z
  .object({
    id: z.string().meta({ description: 'For GET /discovery/resources/{id}' }),
    resourceUri: z.string().meta({ description: 'The same as `resource`' }),
    url: z.string().meta({ description: 'The same as `resource`, for the t402 SDK' }),
    type: z.enum(['http', 'mcp']),
    network: z.string().meta({ description: 'Of the latest terms, CAIP-2' }),
    discoveredAt: timestamp.meta({ description: 'First settlement' }),
    metadata: z.object({
      provider: z.string().meta({ description: '`serviceName`, or the host' }),
      description: z.string().optional(),
      tags: z.array(z.string()),
      method: z.string().optional(),
      toolName: z.string().optional(),
    }),
  })
  .meta({ id: 'ResourceSummary' })

export const discoveredResource = compactResource
  .extend({
    resource: z.string().meta({ description: 'Origin and path; hosts in ASCII, so that look-alikes show' }),
    x402Version: versionNumber,
    t402Version: versionNumber,
    accepts: z.array(listedTerms).meta({ description: 'Latest first' }),
    lastUpdated: timestamp.meta({ description: 'Last settlement' }),
    description: z.string().optional(),
    mimeType: z.string().optional(),
    serviceName: z.string().optional(),
    tags: z.array(z.string()).optional(),
    iconUrl: z.string().optional(),
    extensions: z.record(z.string(), z.unknown()).optional().meta({
      description:
        '`bazaar` as declared, untrusted; absent where the page would exceed 512 kB (`partialResults`)',
    }),
    distinctPayers: z.int().meta({ description: 'That count in the order' }),
  })
  .meta({ id: 'DiscoveredResource' })
export type DiscoveredResource = z.infer<typeof discoveredResource>

const partialResults = z
  .boolean()
  .meta({ description: 'Whether matches or extensions were left out; `nextCursor` continues' })
const nextCursor = z.string().optional().meta({ description: 'For the next page; absent at the end' })
const version2 = z.literal(2)

export const resourcePage = z
  .object({
    x402Version: version2,
    t402Version: version2,
    items: z.array(discoveredResource),
    resources: z.array(compactResource).meta({ description: 'The same resources in short' }),
    total: z.int().meta({ description: 'Matches; with filters 1000 stands for at least 1000' }),
    limit: z.int(),
    offset: z.int(),
    pagination: z.object({
      limit: z.int(),
      offset: z.int(),
      total: z.int(),
      cursor: z.string().nullable(),
    }),
    nextCursor,
    partialResults,
  })
  .meta({ id: 'ResourcePage' })
export type ResourcePage = z.infer<typeof resourcePage>

export const searchPage = z
  .object({
    x402Version: version2,
    t402Version: version2,
    resources: z.array(discoveredResource),
    partialResults,
    pagination: z.object({ limit: z.int(), cursor: z.string().nullable() }),
    nextCursor,
  })
  .meta({ id: 'ResourceSearchPage' })
export type SearchPage = z.infer<typeof searchPage>

export const declarationReport = z
  .object({
    wouldBeListed: z.boolean(),
    version: z.int().meta({ description: 'Version of the declaration' }),
    rule: z.string().optional().meta({ description: 'First rule that rejects it' }),
    reason: z.string().optional(),
    key: z
      .object({ url: z.string(), toolName: z.string().optional() })
      .optional()
      .meta({ description: 'What it would be listed under' }),
    type: z.enum(['http', 'mcp']).optional(),
    rules: z.array(
      z.object({
        rule: z.string(),
        status: z.enum(['passed', 'failed', 'not_checked']),
        effect: z.enum(['rejects', 'drops']).meta({ description: '`drops`: the part is left out' }),
        sentence: z.string(),
        problem: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'DeclarationReport' })
export type DeclarationReport = z.infer<typeof declarationReport>

export const listingChanged = z
  .object({ id: z.string(), resource: z.string(), listing: z.enum(['listed', 'unlisted', 'stale']) })
  .meta({ id: 'ListingChanged' })
export type ListingChanged = z.infer<typeof listingChanged>

export const discoveryLimits = {
  page: 100,
  defaultPage: 20,
  offset: 10_000,
  query: 400,
} as const
