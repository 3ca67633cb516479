import type { RecordPlan } from '../../ports/discoveryCatalogue.js'

export const settlementRules = {
  claimed_by_another_payee:
    'The resource is listed for another account or recipient; only its owner changes its listing.',
  ownership_unproven:
    'The resource is listed for another payee; the resource is asked whom it wants paid. Settle again in a minute.',
  unlisted_by_owner:
    'The owner unlisted the resource; it is listed again after POST /discovery/resources/{id}/relist.',
  settlement_pending: 'Listed by the first settlement of it that is confirmed.',
  catalogue_busy: 'Too many settlements are being recorded; listed by the next settlement of it.',
  catalogue_unavailable: 'The catalogue did not answer in time; listed by the next settlement of it.',
} as const

export const refuse = (
  rule: keyof typeof settlementRules,
  reason: string = settlementRules[rule],
): Extract<RecordPlan, { readonly kind: 'refused' }> => ({ kind: 'refused', rule, reason })
