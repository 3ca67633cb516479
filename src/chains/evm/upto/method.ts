import { type Hex, toFunctionSelector, zeroAddress } from 'viem'
import { readAddress } from '../abi/address.js'
import { keccak, readWord } from '../abi/words.js'
import type { Routers } from '../contracts/routers.js'
import { createPaymentMethod, type MethodDependencies, type PaymentMethod } from '../paymentMethod.js'
import type { Rpc } from '../rpc/rpc.js'
import { askTokensOnce } from '../tokens/tokenRegistry.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import { decodePermitState, encodeNonceCall } from './call.js'
import { describePermit, readJudge } from './judge.js'
import { formatPermitId, readUptoProof } from './payload.js'
import { createPreparer, type FindPermitProblem, type Prepared } from './prepare.js'

/** `upto` by an EIP-2612 permit: the router transfers what was used, at most what the payer permitted. */
export const createPermitMethod = (
  dependencies: MethodDependencies & {
    readonly routers: Routers
    readonly findPermitProblem: FindPermitProblem
  },
): PaymentMethod =>
  createPaymentMethod<Prepared>(dependencies, {
    ...createPreparer(dependencies),
    identify: (payment) => {
      const reading = readUptoProof(payment.proof)
      const asset = readAddress(payment.requirements.asset)
      if ('problem' in reading || asset === null) return null
      return formatPermitId(dependencies.network.network, asset, reading.proof.permit)
    },
    describe: ({ candidate: { permit, routers } }) =>
      describePermit({ router: routers.shared, spender: permit.spender, nonce: permit.nonce }),
    readJudge,
    describeHold: ({ candidate }, reads) => ({
      spender: candidate.permit.spender,
      balance: decodePermitState(reads).balance ?? 0n,
      // The permit itself grants it.
      allowance: null,
    }),
  })

const typeHashSelector = toFunctionSelector('PERMIT_TYPEHASH()')
const daiTypeHash = BigInt(
  keccak('Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)'),
)

const alternatives = 'pay with Permit2 (extra.assetTransferMethod "permit2"), or use the scheme exact'

const notSupported: RevertReason = {
  reason: 'permit_not_supported',
  message: `The token has no permit (EIP-2612): ${alternatives}`,
}
const daiForm: RevertReason = {
  reason: 'permit_dai_not_supported',
  message: `The token has only DAI's form of permit, which allows everything or nothing: ${alternatives}`,
}

export const createFindPermitProblem = (rpc: Pick<Rpc, 'call'>): FindPermitProblem => {
  const read = async (to: Hex, data: Hex): Promise<bigint | null> => {
    const answer = await rpc.call({ to, data })
    return answer.succeeds ? readWord(answer.value) : null
  }
  return askTokensOnce(async (asset) => {
    const [nonce, typeHash] = await Promise.all([
      read(asset, encodeNonceCall(zeroAddress)),
      read(asset, typeHashSelector),
    ])
    return typeHash === daiTypeHash ? daiForm : nonce === null ? notSupported : null
  })
}
