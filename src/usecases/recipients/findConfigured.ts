import type { Logger } from '../../ports/logger.js'
import type { Recipient, RecipientStatement } from '../../ports/recipients.js'
import type { ConfiguredRecipient } from '../../protocol/recipients.js'
import { findPublicProof } from '../../schemes/publicProof.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import { normalizeWith } from '../../schemes/spelling.js'

/** What the operator's configuration states; null: nothing. */
export type FindConfigured = (recipient: Recipient) => RecipientStatement | null

/** Throws for an entry that its network contradicts; the message is for operators. */
export const createFindConfigured = (
  configured: readonly ConfiguredRecipient[],
  registry: SchemeRegistry,
  logger: Logger,
): FindConfigured => {
  const statements = new Map<string, RecipientStatement>()
  for (const { network, payTo, demands, accountId } of configured) {
    const scheme = registry.list().find((each) => each.kind.network === network && findPublicProof(each))
    const proof = scheme === undefined ? null : findPublicProof(scheme)
    if (scheme === undefined || proof === null) {
      logger.warn({ network, payTo }, 'exact_direct.recipient_of_unserved_network')
      continue
    }
    if (!scheme.network.isAddress(payTo)) throw new Error(`${payTo} is not an address of ${network}`)
    if (demands.memo && !proof.carriesMemo) {
      throw new Error(`transfers of ${network} carry no memo`)
    }
    if (demands.signedClaim && proof.signatures === null) {
      throw new Error(`wallets of ${network} sign no messages`)
    }
    const recipient = { network, payTo: normalizeWith(scheme.network, payTo) }
    statements.set(keyOf(recipient), { ...recipient, demands, accountId })
  }
  return (recipient) => statements.get(keyOf(recipient)) ?? null
}

const keyOf = ({ network, payTo }: Recipient): string => `${network} ${payTo}`
