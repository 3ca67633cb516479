import { type Hex, zeroAddress, zeroHash } from 'viem'
import { readAddress } from '../abi/address.js'
import { readWord } from '../abi/words.js'
import { createPaymentMethod, type MethodDependencies, type PaymentMethod } from '../paymentMethod.js'
import type { Rpc } from '../rpc/rpc.js'
import { encodeStateCall, readJudge } from './judge.js'
import { formatAuthorizationId, readExactProof } from './payload.js'
import { createPreparer, type Prepared } from './prepare.js'

/** `exact` by EIP-3009: the token transfers what the payer authorized. */
export const createAuthorizationMethod = (dependencies: MethodDependencies): PaymentMethod =>
  createPaymentMethod<Prepared>(dependencies, {
    ...createPreparer(dependencies),
    identify: (payment) => {
      const reading = readExactProof(payment.proof)
      const asset = readAddress(payment.requirements.asset)
      if ('problem' in reading || asset === null) return null
      const { from, nonce } = reading.proof.authorization
      return formatAuthorizationId({ network: dependencies.network.network, asset, from, nonce })
    },
    describe: ({ candidate }) => ({ nonce: candidate.authorization.nonce }),
    readJudge,
  })

// Tokens come from requirements; one more than these is asked again.
const maxTokens = 1_000

/** Whether a token has EIP-3009, which `authorizationState` shows; asked once. */
export const createAuthorizationSupport = (rpc: Pick<Rpc, 'call'>) => {
  const known = new Map<string, boolean>()
  return async (asset: Hex): Promise<boolean> => {
    const key = asset.toLowerCase()
    const cached = known.get(key)
    if (cached !== undefined) return cached
    const answer = await rpc.call({ to: asset, data: encodeStateCall(zeroAddress, zeroHash) })
    const isSupported = answer.succeeds && readWord(answer.value) !== null
    if (known.size >= maxTokens) known.clear()
    known.set(key, isSupported)
    return isSupported
  }
}
