import { type Hex, toFunctionSelector, zeroAddress } from 'viem'
import { isFields } from '../../protocol/fields.js'
import type { Payment } from '../../protocol/payment.js'
import { readAddress } from './abi/address.js'
import { keccak, readWord } from './abi/words.js'
import type { Routers } from './contracts/routers.js'
import {
  type CreateScheme,
  createPaymentMethod,
  type MethodDependencies,
  type PaymentMethod,
  toRefusal,
} from './paymentMethod.js'
import { isPermitRow } from './permit2/judge.js'
import { listProxyExtensions } from './permit2/presence.js'
import { createUptoPermit2Method } from './permit2/upto/method.js'
import type { Rpc } from './rpc/rpc.js'
import { askTokensOnce, createDescribeToken } from './tokens/tokenRegistry.js'
import { builderCodeExtension } from './transactions/builderCodes.js'
import type { RevertReason } from './transactions/settlementCall.js'
import { decodePermitState, encodeNonceCall, permitState } from './upto/call.js'
import { describePermit, readJudge } from './upto/judge.js'
import { formatPermitId, readUptoProof } from './upto/payload.js'
import { createPreparer, type FindPermitProblem, type Prepared } from './upto/prepare.js'

/**
 * `upto` on one network, by a permit of the token and by Permit2. The form of the payload decides; after a crash, the
 * journal row.
 */
export const createUptoScheme: CreateScheme = (dependencies) => {
  const { network, opened, rpc, tokens, routers, accounts, proxies } = dependencies
  const { upto: presence } = proxies
  const { takesSharedRouterPermits } = dependencies.family
  const findPermitProblem = createFindPermitProblem(rpc)
  const permit = createPermitMethod({ ...dependencies, findPermitProblem })
  const permit2 = createUptoPermit2Method({ ...dependencies, facilitators: accounts, router: routers.shared })
  const describeToken = createDescribeToken(network, tokens)
  const methodOf = ({ proof }: Payment): PaymentMethod =>
    proof.permit2Authorization === undefined ? permit : permit2

  /** The router, through which every account of ours can send, or the first of them where it is not deployed. */
  const describeFacilitator = (hasRouter: boolean): Readonly<Record<string, unknown>> => {
    const [first] = accounts
    const facilitator = hasRouter ? routers.shared : first
    return facilitator === undefined ? {} : { facilitatorAddress: facilitator }
  }

  return {
    network: opened,
    journalClaims: null,
    settledState: null,
    kind: { scheme: 'upto', network: network.network },
    describeKind: () => {
      const hasRouter = routers.presence.peek() === true
      const hasProxy = presence.peek() === true
      if (!hasRouter && !hasProxy) return null
      return {
        extra: {
          assetTransferMethods: [...(hasRouter ? ['eip2612'] : []), ...(hasProxy ? ['permit2'] : [])],
          // The router that payers sign for is that of the recipient.
          ...(hasRouter && takesSharedRouterPermits ? { routerAddress: routers.shared } : {}),
          ...(hasProxy ? describeFacilitator(hasRouter) : {}),
        },
        extensions: [builderCodeExtension, ...listProxyExtensions(presence)],
      }
    },
    identify: (payment) => methodOf(payment).identify(payment),
    verify: async (payment, options) => {
      const { trace } = options
      trace?.expect(['transfer_method'])
      if (!(await presence.ask()) && !(await routers.presence.ask())) {
        const unoffered = { reason: 'unsupported_scheme', message: unofferedMessage } as const
        trace?.note('scheme_served', unoffered)
        return toRefusal(null, unoffered)
      }
      const foreign = isTransferAuthorization(payment.proof)
        ? foreignMessage
        : methodOf(payment) === permit2 && !(await presence.ask())
          ? missingMessage
          : null
      const reason = 'unsupported_asset_transfer_method'
      trace?.note('transfer_method', foreign === null ? null : { reason, message: foreign })
      if (foreign === null) return await methodOf(payment).verify(payment, options)
      return toRefusal(null, { reason, message: foreign })
    },
    resolve: (settlement, signal, options) =>
      (isPermitRow(settlement) ? permit2 : permit).resolve(settlement, signal, options),

    describeAsset: async (asset, payTo) => {
      const terms = await describeToken(asset)
      const token = terms === null ? null : readAddress(terms.asset)
      if (terms === null || token === null) return null
      const [hasRouter, hasProxy] = await Promise.all([routers.presence.ask(), presence.ask()])
      const takesPermit = hasRouter && (await findPermitProblem(token)) === null
      if (!takesPermit && !hasProxy) return null
      return {
        ...terms,
        extra: {
          ...terms.extra,
          ...(takesPermit
            ? nameRouter(routers, readAddress(payTo), takesSharedRouterPermits)
            : { assetTransferMethod: 'permit2' }),
          ...(hasProxy ? describeFacilitator(hasRouter) : {}),
        },
        ...(takesSharedRouterPermits ? {} : { overruled: { routerAddress: routers.shared } }),
      }
    },
  }
}

/** `extra.routerAddress` of requirements; none while the recipient is unknown, unless the shared one may be named. */
export const nameRouter = (
  { shared, findFor }: Pick<Routers, 'shared' | 'findFor'>,
  recipient: Hex | null,
  takesSharedRouterPermits: boolean,
): Readonly<Record<string, string>> => {
  if (recipient !== null) return { routerAddress: findFor(recipient) }
  return takesSharedRouterPermits ? { routerAddress: shared } : {}
}

export const foreignMessage =
  'payload: an EIP-3009 authorization moves a fixed amount; upto takes a permit of the token (EIP-2612) or Permit2'
const unofferedMessage =
  "upto: this network has neither the router nor Permit2 with x402's proxy for upto; /supported does not list it"
const missingMessage =
  "payload: a Permit2 authorization is not supported: this network lacks Permit2 or x402's proxy for upto"

/** Whether it is the payload of `exact`. */
export const isTransferAuthorization = ({ authorization }: Payment['proof']): boolean =>
  isFields(authorization) && 'from' in authorization && !('owner' in authorization)

/** `upto` by an EIP-2612 permit: the router transfers what was used, at most what the payer permitted. */
const createPermitMethod = (
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
    state: permitState,
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

const createFindPermitProblem = (rpc: Pick<Rpc, 'call'>): FindPermitProblem => {
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
