import type { Intent, IntentEvent } from '../../ports/intentStore.js'
import type { IntentView, IntentWithRoutes } from '../../protocol/intents.js'
import { refusalFields } from '../../protocol/results.js'

/** An intent whose time is over is expired, also before a job writes it down. */
export const isOverdue = ({ status, endsAt }: Intent, now: Date): boolean =>
  (status === 'pending' || status === 'routed') && endsAt <= now

export const viewIntent = (intent: Intent, now: Date): IntentView => {
  const { terms, selected, payment, transaction, settledAmount, reason, closedAt } = intent
  const { payer, payee, amount, asset, decimals, sourceNetworks, targetNetwork, metadata } = terms
  const refusal = reason === null ? null : refusalFields(reason)
  return {
    id: intent.id,
    status: isOverdue(intent, now) ? 'expired' : intent.status,
    payer,
    payee,
    amount,
    asset,
    ...(decimals === undefined ? {} : { decimals }),
    ...(sourceNetworks === undefined ? {} : { sourceNetworks }),
    ...(targetNetwork === undefined ? {} : { targetNetwork }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(selected === null
      ? {}
      : { selectedRoute: selected.route, paymentRequirements: selected.requirements }),
    ...(payment === null ? {} : { settlementId: payment.settlementId }),
    ...(transaction === null ? {} : { transaction }),
    ...(settledAmount === null ? {} : { settledAmount: settledAmount.toString() }),
    ...(refusal === null ? {} : { errorReason: refusal.reason, errorMessage: refusal.message }),
    createdAt: intent.createdAt.toISOString(),
    expiresAt: intent.expiresAt.toISOString(),
    ...(closedAt === null ? {} : { closedAt: closedAt.toISOString() }),
  }
}

export const viewWithRoutes = (intent: Intent, now: Date): IntentWithRoutes => ({
  intent: viewIntent(intent, now),
  availableRoutes: [...intent.plan.routes],
  recommendedRoute: intent.plan.routes[0] ?? null,
  unavailable: [...intent.plan.unavailable],
})

export const eventOf = (type: string, intent: Intent, now: Date): IntentEvent => ({
  type: `intent.${type}`,
  data: viewIntent(intent, now),
})
