import type {
  OperatorAccount,
  OperatorAccountPage,
  OperatorAuditPage,
  PauseCleared,
  PauseList,
  PauseSet,
  PauseTargetRequest,
} from '../../protocol/operator.js'
import type { CallerReport, OperatorOverview } from '../../protocol/operatorOverview.js'
import type { TierName } from '../../protocol/tiers.js'
import type { DeliveryView } from '../../protocol/webhooks.js'

interface PageQuery {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** Who did it, for the audit trail. */
interface OperatorCall {
  /** Name that the operator gave. */
  readonly by?: string | undefined
  /** Client address; null: a command on the server. */
  readonly address: string | null
}

export interface AnsweredRequest {
  /** Null: without a valid key. */
  readonly accountId: string | null
  /** Client address: IPv4, or IPv6 /64. */
  readonly network: string
  readonly isSettle: boolean
  readonly durationMs: number
  /** Reason of a refused payment, or code of an error; null: neither. */
  readonly reason: string | null
}

export interface OperatorUseCases {
  /** Bounded in memory and time; in the path of every request. */
  countCaller(request: AnsweredRequest): void
  readCallers(limit: number): CallerReport
  /** Parts that no store answers in time are null. Never rejects. */
  readOverview(): Promise<OperatorOverview>
  /** By id or by the beginning of the e-mail address; empty: all. */
  searchAccounts(query: PageQuery & { readonly search: string }): Promise<OperatorAccountPage>
  /** Throws NOT_FOUND, and INVALID_REQUEST for an unknown tier. */
  setTier(id: string, tier: TierName): Promise<OperatorAccount>
  /** Throws NOT_FOUND. */
  revokeAccount(id: string): Promise<OperatorAccount>
  listPauses(): Promise<PauseList>
  /** Throws INVALID_REQUEST for what this instance does not have, NOT_FOUND for an unknown account. */
  setPause(
    pause: {
      readonly target: PauseTargetRequest
      readonly reason: string
      readonly by?: string | undefined
    },
    address: string | null,
  ): Promise<PauseSet>
  clearPause(target: PauseTargetRequest, call: OperatorCall): Promise<PauseCleared>
  /** Throws as `WebhookUseCases.redeliver`. */
  redeliver(deliveryId: string, call: OperatorCall): Promise<DeliveryView>
  /** Newest first. */
  readAudit(query: PageQuery): Promise<OperatorAuditPage>
}
