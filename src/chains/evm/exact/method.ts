import { zeroAddress, zeroHash } from 'viem'
import { readAddress } from '../abi/address.js'
import { readWord } from '../abi/words.js'
import { createPaymentMethod, type MethodDependencies, type PaymentMethod } from '../paymentMethod.js'
import type { Rpc } from '../rpc/rpc.js'
import { askTokensOnce } from '../tokens/tokenRegistry.js'
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

/** Whether a token has EIP-3009, which `authorizationState` shows. */
export const createAuthorizationSupport = (rpc: Pick<Rpc, 'call'>) =>
  askTokensOnce(async (asset) => {
    const answer = await rpc.call({ to: asset, data: encodeStateCall(zeroAddress, zeroHash) })
    return answer.succeeds && readWord(answer.value) !== null
  })
