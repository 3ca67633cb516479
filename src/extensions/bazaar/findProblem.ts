import { isFields } from '../../protocol/fields.js'
import type { Payment } from '../../protocol/payment.js'
import type { ExtensionProblem } from '../extension.js'

/** Shape only: everything else costs the listing, never the payment. */
export const findProblem = ({
  declaredExtensions,
  clientExtensions,
}: Pick<Payment, 'declaredExtensions' | 'clientExtensions'>): ExtensionProblem | null => {
  const declared = findShapeProblem(declaredExtensions.bazaar)
  if (declared !== null) return { origin: 'requirements', ...declared }
  const repeated = findShapeProblem(clientExtensions.bazaar)
  return repeated === null ? null : { origin: 'payload', ...repeated }
}

const findShapeProblem = (bazaar: unknown): Pick<ExtensionProblem, 'path' | 'message'> | null => {
  if (bazaar === undefined) return null
  const message = 'must be an object'
  if (!isFields(bazaar)) return { path: 'bazaar', message }
  for (const part of ['info', 'schema'] as const) {
    if (bazaar[part] !== undefined && !isFields(bazaar[part])) return { path: `bazaar.${part}`, message }
  }
  return null
}
