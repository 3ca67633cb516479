import { AppError } from '../../errors.js'
import type { Recipient } from '../../ports/recipientStatements.js'
import { canonicalNetwork } from '../../protocol/network.js'
import type { ClaimDemands, RecipientDraft } from '../../protocol/recipients.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { PublicProof, Scheme } from '../../schemes/scheme.js'
import { normalizeWith } from '../../schemes/spelling.js'

export interface ReadDraft {
  readonly recipient: Recipient
  readonly demands: ClaimDemands
  readonly proof: PublicProof
}

/** Throws INVALID_REQUEST. */
export const readDraft = (registry: SchemeRegistry, draft: RecipientDraft): ReadDraft => {
  const { scheme, proof, payTo } = findRecipient(registry, draft)
  const { memo = false, signedClaim = false, uniqueAmount = false, ownKey = false } = draft.claims
  const demands = { memo, signedClaim, uniqueAmount, ownKey }
  if (!Object.values(demands).includes(true)) {
    throw new AppError('INVALID_REQUEST', 'claims: at least one demand must be true')
  }
  if (memo && !proof.carriesMemo) {
    throw new AppError('INVALID_REQUEST', 'claims.memo: transfers of the network carry no memo')
  }
  if (signedClaim && proof.isSignedBy === undefined) {
    throw new AppError('INVALID_REQUEST', 'claims.signedClaim: wallets of the network sign no messages')
  }
  const { network } = scheme.kind
  return { recipient: { network, payTo }, demands, proof }
}

/** In normal form. Throws INVALID_REQUEST. */
export const findRecipient = (
  registry: SchemeRegistry,
  { network, payTo }: Recipient,
): { readonly scheme: Scheme; readonly proof: PublicProof; readonly payTo: string } => {
  const canonical = canonicalNetwork(network)
  const scheme = registry.list().find((each) => each.kind.network === canonical && each.publicProof)
  if (scheme?.publicProof === undefined) {
    throw new AppError('INVALID_REQUEST', 'network: this instance serves no exact-direct there')
  }
  if (!scheme.isAddress(payTo)) {
    throw new AppError('INVALID_REQUEST', 'payTo: must be an address of the network')
  }
  return { scheme, proof: scheme.publicProof, payTo: normalizeWith(scheme, payTo) }
}
