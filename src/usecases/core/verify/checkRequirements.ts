import { AppError } from '../../../errors.js'
import { canonicalAsset } from '../../../protocol/assetId.js'
import type { Payment, PaymentRequirements } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import { findUnitProblem } from '../../../protocol/usage.js'
import { findPublicProof } from '../../../schemes/publicProof.js'
import type { SchemeRegistry } from '../../../schemes/registry.js'
import type { Scheme } from '../../../schemes/scheme.js'

const path = 'paymentRequirements.'

/** Throws INVALID_REQUEST: malformed requirements are the mistake of the resource server, not of the payer. */
export const checkRequirements = ({ requirements, callerNetwork }: Payment, scheme: Scheme): void =>
  checkTerms(scheme, requirements, { path, callerNetwork })

/** Before a service is rendered: also what no settlement is refused for. Throws INVALID_REQUEST. */
export const checkNewRequirements = (payment: Payment, scheme: Scheme): void => {
  checkRequirements(payment, scheme)
  checkUnit(scheme, payment.requirements.extra, path)
}

/** Throws INVALID_REQUEST. */
export const checkUnit = (scheme: Scheme, extra: PaymentRequirements['extra'], path: string): void => {
  const problem = findUnitProblem(scheme.kind.scheme, extra)
  if (problem !== null) throw new AppError('INVALID_REQUEST', `${path}${problem}`)
}

interface Terms {
  /** Null: the network's first token. */
  readonly asset: string | null
  readonly payTo: string
  readonly extra: PaymentRequirements['extra']
}

interface Caller {
  /** Path of the terms in the request, for messages. */
  readonly path: string
  /** Network as the caller named it. */
  readonly callerNetwork: string
}

/** Checks requirements and drafts of them. Throws INVALID_REQUEST. */
export const checkTerms = (
  scheme: Scheme,
  { asset, payTo, extra }: Terms,
  { path, callerNetwork }: Caller,
): void => {
  const { network } = scheme
  const bare = asset === null ? null : canonicalAsset(network.id, asset)
  if (bare !== null && !network.isAsset(bare)) {
    throw new AppError('INVALID_REQUEST', `${path}asset: must be ${network.assetForm} of ${callerNetwork}`)
  }
  const contradiction = findPublicProof(scheme)?.findContradiction(bare, extra) ?? null
  if (contradiction !== null) throw new AppError('INVALID_REQUEST', `${path}${contradiction}`)
  if (!network.isAddress(payTo)) {
    throw new AppError('INVALID_REQUEST', `${path}payTo: must be an address of ${callerNetwork}`)
  }
}

export const findScheme = (registry: SchemeRegistry, { requirements }: Payment): Scheme | Reason => {
  const scheme = registry.find(requirements.scheme, requirements.network)
  if (scheme !== null) return scheme
  return registry.hasNetwork(requirements.network) ? 'unsupported_scheme' : 'invalid_network'
}
