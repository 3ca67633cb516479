import type { RecordPlan } from '../../ports/discoveryCatalogue.js'

export const settlementRules = {
  claimed_by_another_payee:
    'The resource is listed for another account or recipient; only its owner changes its listing.',
  ownership_unproven:
    'The resource is listed for another payee; the resource is asked whom it wants paid. Settle again in a minute.',
  unlisted_by_owner:
    'The owner unlisted the resource; it is listed again after POST /discovery/resources/{id}/relist.',
  listing_queued:
    'Listed within seconds, after this answer; the answer to the next settlement of it says what became of it.',
  settlement_pending: 'Listed by the first settlement of it that is confirmed.',
  catalogue_busy:
    'Too many settlements of this caller wait for the catalogue; listed by the next settlement of it.',
  catalogue_unavailable:
    'The catalogue did not answer, also when it was asked again; listed by the next settlement of it.',
} as const

export const refuse = (
  rule: keyof typeof settlementRules,
  reason: string = settlementRules[rule],
): Extract<RecordPlan, { readonly kind: 'refused' }> => ({ kind: 'refused', rule, reason })
