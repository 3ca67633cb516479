import type { SignInDeclarations } from '../extensions/siwx/declaration.js'
import type { Account, Actor } from '../ports/accountStore.js'
import type { Requester } from '../ports/rateLimiter.js'
import type { Recipient } from '../ports/recipients.js'
import type { WebhookDelivery } from '../ports/webhookOutbox.js'
import type { ChannelPage, ChannelView } from '../protocol/channels.js'
import type { CreditRanking, CreditScore, RefreshedCreditScore } from '../protocol/credit.js'
import type {
  DeletedRecipient,
  RecipientDraft,
  RecipientList,
  RecipientMessage,
  RecipientView,
  SignedRecipient,
} from '../protocol/recipients.js'
import type { ReconciliationPage } from '../protocol/reconciliation.js'
import type {
  AdvanceRequest,
  CreatedInbox,
  InboxRequest,
  InboxView,
  SandboxAddressList,
  SandboxPayment,
  ScenarioRequest,
  ScenarioView,
} from '../protocol/sandbox.js'
import type { SignatureScheme } from '../protocol/siwx.js'
import type { RequestStatistics, SettlementStatistics } from '../protocol/statistics.js'
import type {
  DeliveryPage,
  DeliveryView,
  EventPage,
  WebhookRotated,
  WebhookSet,
  WebhookTested,
} from '../protocol/webhooks.js'
import type { CaptureUseCases } from './captures/useCases.js'
import type { CoreUseCases } from './core/useCases.js'
import type { DashboardUseCases } from './dashboard/useCases.js'
import type { DiscoveryUseCases } from './discovery/useCases.js'
import type { IntentUseCases } from './intents/useCases.js'
import type { OperatorUseCases } from './operator/useCases.js'
import type { StreamUseCases } from './streams/useCases.js'

/** What HTTP may call. Nouns with many use cases declare theirs in `useCases.ts` of their own folder. */
export interface UseCases {
  readonly channels: ChannelUseCases
  readonly core: CoreUseCases
  readonly credit: CreditUseCases
  readonly dashboard: DashboardUseCases
  readonly operator: OperatorUseCases
  readonly reconciliation: ReconciliationUseCases
  readonly recipients: RecipientUseCases
  readonly intents: IntentUseCases
  readonly captures: CaptureUseCases
  readonly siwx: SiwxUseCases
  readonly stats: StatsUseCases
  readonly streams: StreamUseCases
  readonly webhooks: WebhookUseCases
  /** Null outside the sandbox. */
  readonly sandbox: SandboxUseCases | null
  /** Null: `DISCOVERY=off`. */
  readonly discovery: DiscoveryUseCases | null
}

/** All of them are limited to the given account. */
export interface ChannelUseCases {
  listChannels(
    accountId: string,
    query: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<ChannelPage>
  /** Throws NOT_FOUND. */
  getChannel(
    accountId: string,
    name: { readonly network: string; readonly channelId: string },
  ): Promise<ChannelView>
}

export interface WalletQuery {
  readonly wallet: string
  /** Any network of the wallet's family; default: all families. */
  readonly network?: string | undefined
}

export interface CreditUseCases {
  /** Throws INVALID_REQUEST for an address of no family. A wallet that never paid has the score 0. */
  readScore(query: WalletQuery): Promise<CreditScore>
  /** As `readScore`, after a recount of the wallet's settlements. */
  refreshScore(query: WalletQuery): Promise<RefreshedCreditScore>
  listTop(limit: number): Promise<CreditRanking>
}

export interface CountedRequest {
  readonly status: number
  readonly durationMs: number
}

export interface StatsUseCases {
  countRequest(request: CountedRequest): void
  readRequestStatistics(): Promise<RequestStatistics>
  readSettlementStatistics(): Promise<SettlementStatistics>
}

interface ReconciliationQuery {
  readonly from: Date
  readonly to: Date
  /** Any name of a network. */
  readonly network?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface ReconciliationUseCases {
  /** Throws INVALID_REQUEST for an empty period or an unknown cursor. */
  reconcilePeriod(query: ReconciliationQuery): Promise<ReconciliationPage>
}

/** Where the request was sent: the message that a wallet signs names it. */
export interface ServiceAddress {
  readonly host: string
  /** The client requested the recipients with it. */
  readonly url: string
}

export interface RecipientUseCases {
  /** Throws INVALID_REQUEST. */
  writeMessage(account: Account, draft: RecipientDraft, at: ServiceAddress): RecipientMessage
  /**
   * Throws SIGN_IN_FAILED if the wallet of `payTo` has not signed the message, FORBIDDEN if the operator's configuration
   * states something for the recipient.
   */
  stateRecipient(
    account: Account,
    signed: SignedRecipient,
    context: { readonly at: ServiceAddress; readonly by: Actor },
  ): Promise<RecipientView>
  listRecipients(account: Account): Promise<RecipientList>
  /** Throws NOT_FOUND for a recipient of which the account has stated nothing. */
  deleteRecipient(account: Account, recipient: Recipient, by: Actor): Promise<DeletedRecipient>
}

export interface SandboxUseCases {
  listAddresses(): SandboxAddressList
  /** A new payment of a fixed payer, by its name, or of any address of the network. Throws INVALID_REQUEST. */
  createPayment(query: { readonly payer: string; readonly network: string }): SandboxPayment
  /**
   * Throws INVALID_REQUEST for a network that the sandbox has not, RATE_LIMITED while a holder has its share, and
   * SERVICE_UNAVAILABLE while the sandbox is full.
   */
  createScenario(request: ScenarioRequest, holders: readonly string[]): Promise<ScenarioView>
  /** Throws NOT_FOUND. */
  getScenario(id: string): Promise<ScenarioView>
  /** Settlements and webhooks of the scenario that became due are done when it returns. Throws NOT_FOUND. */
  advanceClock(request: AdvanceRequest): Promise<ScenarioView>
  createInbox(request: InboxRequest): Promise<CreatedInbox>
  /** Throws NOT_FOUND. */
  readInbox(id: string): Promise<InboxView>
}

interface NonceRequest {
  readonly domain?: string | undefined
  readonly uri?: string | undefined
  readonly chainId?: string | undefined
  readonly chains?: readonly string[] | undefined
  readonly statement?: string | undefined
  readonly expiresInSeconds?: number | undefined
  readonly resources?: readonly string[] | undefined
  readonly requestId?: string | undefined
}

interface IssuedNonce {
  readonly nonce: string
  readonly issuedAt: string
  readonly expirationTime: string
  readonly domain?: string
  readonly uri?: string
  /** Declarations for a 402 response, by key. */
  readonly extensions?: SignInDeclarations
}

export interface VerifyRequest {
  readonly header?: string | undefined
  readonly proof?: unknown
  readonly uri: string
  readonly domain?: string | undefined
  readonly chainId?: string | undefined
  readonly chains?: readonly string[] | undefined
  readonly resources?: readonly string[] | undefined
  readonly nonce?: string | undefined
  readonly maxAgeSeconds?: number | undefined
  readonly requireIssuedNonce?: boolean | undefined
}

interface SignedIn {
  readonly isValid: true
  /** In the chain's canonical form. */
  readonly address: string
  readonly chainId: string
  /** CAIP-10. */
  readonly account: string
  readonly domain: string
  readonly uri: string
  readonly nonce: string
  readonly issuedAt: string
  readonly expirationTime?: string
  readonly requestId?: string
  readonly statement?: string
  readonly resources: readonly string[]
  readonly signatureScheme: SignatureScheme
}

export interface SiwxUseCases {
  /** Throws INVALID_REQUEST. */
  issueNonce(request: NonceRequest): IssuedNonce
  /** Throws SIGN_IN_FAILED with its reason, and RATE_LIMITED for contract wallets; a proof is accepted once, by whichever instance. */
  verifySignIn(request: VerifyRequest, requester?: Requester): Promise<SignedIn>
}

export interface EventsQuery {
  /** A position, or `latest`. */
  readonly cursor: string
  readonly limit: number
  readonly waitSeconds: number
  /** Absent: of all. */
  readonly settlementId?: string | undefined
}

interface DeliveriesQuery {
  readonly limit: number
  readonly status?: WebhookDelivery['state'] | undefined
  readonly cursor?: string | undefined
}

interface EventsWaiter {
  /** The address of the client, its site and its account: each may have an eighth of the free places. */
  readonly holders: readonly string[]
  readonly abandoned: AbortSignal
}

/** All of them are limited to the given account. */
export interface WebhookUseCases {
  /** The same URL keeps its secret. An empty URL removes the webhook. Throws INVALID_REQUEST for a URL that can never be used. */
  setWebhook(account: Account, url: string, by?: Actor): Promise<WebhookSet>
  testWebhook(account: Account): Promise<WebhookTested>
  rotateSecret(account: Account, by?: Actor): Promise<WebhookRotated>
  listDeliveries(account: Account, query: DeliveriesQuery): Promise<DeliveryPage>
  /** Throws INVALID_REQUEST for an unknown cursor, RATE_LIMITED if too many requests of the account or a holder wait. */
  readEvents(
    account: Pick<Account, 'id' | 'customer'>,
    query: EventsQuery,
    waiter: EventsWaiter,
  ): Promise<EventPage>
  /**
   * Throws NOT_FOUND, or INVALID_REQUEST if no webhook is set. `recordBefore` runs once nothing else refuses it; if it
   * fails, nothing is sent.
   */
  redeliver(account: Account, deliveryId: string, recordBefore?: () => Promise<void>): Promise<DeliveryView>
}
