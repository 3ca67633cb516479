import type { DeployedSignature } from '../signatures/signature.js'

/*
 * About 130k gas for a first transfer to a new recipient by ECDSA; wallet contracts add their own check. The same caps
 * as for EIP-3009, so that the balance that a signer needs does not depend on the method. Unused gas is not paid.
 */
const ecdsaGasCap = 500_000n
const contractGasCap = 1_000_000n

export const gasCapOf = ({ kind }: DeployedSignature): bigint =>
  kind === 'ecdsa' ? ecdsaGasCap : contractGasCap

/** A word of the nonce bitmap and the recipient's balance; nonce and allowance of a token's permit before it. */
export const permit2ReorgGas = 90_000n
