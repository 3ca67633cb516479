import { writeT402Message } from '../../extensions/siwx/messages.js'
import type { Recipient } from '../../ports/recipientStatements.js'
import type { ClaimDemands } from '../../protocol/recipients.js'
import type { ServiceAddress } from './useCases.js'

export const messageLifetimeMs = 600_000

export interface MessageTerms {
  readonly accountId: string
  readonly recipient: Recipient
  readonly demands: ClaimDemands
  readonly at: ServiceAddress
  readonly nonce: string
  /** When the nonce ends. */
  readonly expiresAt: Date
}

/**
 * CAIP-122, so that wallets show what it is. It names the account and what is stated: a signature for another service,
 * account or statement is none for this one.
 */
export const writeRecipientMessage = (terms: MessageTerms): string => {
  const { accountId, recipient, demands, at, nonce, expiresAt } = terms
  return writeT402Message({
    domain: at.host,
    address: recipient.payTo,
    statement:
      `Account ${accountId} states what claims on exact-direct payments to this wallet must show: ` +
      `${listDemands(demands).join(', ')}.`,
    uri: at.url,
    version: '1',
    chainId: recipient.network,
    nonce,
    issuedAt: new Date(expiresAt.getTime() - messageLifetimeMs).toISOString(),
    expirationTime: expiresAt.toISOString(),
    notBefore: null,
    requestId: null,
    resources: null,
  })
}

const listDemands = ({ memo, signedClaim, uniqueAmount, ownKey }: ClaimDemands): readonly string[] => [
  ...(memo ? ['the preimage of the memo'] : []),
  ...(signedClaim ? ['a claim signed by the payer'] : []),
  ...(uniqueAmount ? ['a unique amount'] : []),
  ...(ownKey ? ['an API key of the account'] : []),
]
