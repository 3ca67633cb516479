import type { ValidationTurn } from '../../ports/discovery.js'
import type { Requester } from '../../ports/rateLimiter.js'
import type {
  DeclarationReport,
  DiscoveredResource,
  ListingChanged,
  ResourcePage,
  SearchPage,
} from '../../protocol/discovery.js'
import type { Fields } from '../../protocol/fields.js'

export interface ResourceFilters {
  readonly type?: 'http' | 'mcp' | undefined
  readonly network?: string | undefined
  readonly scheme?: string | undefined
  readonly asset?: string | undefined
  readonly payTo?: string | undefined
  /** Extension keys, comma separated. */
  readonly extensions?: string | undefined
  readonly minAmount?: bigint | undefined
  readonly maxAmount?: bigint | undefined
}

export interface ListQuery extends ResourceFilters {
  readonly q?: string | undefined
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
}

interface SearchQuery extends ResourceFilters {
  readonly query: string
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface OwnerSignature {
  readonly network: string
  readonly address: string
  readonly issuedAt: string
  readonly signature: string
}

export interface OwnerClaim {
  /** The API key belongs to it; null without one. */
  readonly accountId: string | null
  readonly signature: OwnerSignature | null
  /** Whose share is used where a node is asked about the signature. */
  readonly requester?: Requester
}

export interface DiscoveryUseCases {
  listResources(query: ListQuery): Promise<ResourcePage>
  searchResources(query: SearchQuery): Promise<SearchPage>
  /** Throws NOT_FOUND for what is not listed. */
  getResource(id: string): Promise<DiscoveredResource>
  /** Throws INVALID_REQUEST if the body holds no declaration, and SERVICE_UNAVAILABLE while too many are being checked. */
  validateDeclaration(body: Fields, turn: ValidationTurn): Promise<DeclarationReport>
  /** The owning account changes it, or a recipient by a signature. Idempotent. */
  changeListing(id: string, action: 'unlist' | 'relist', by: OwnerClaim): Promise<ListingChanged>
}
