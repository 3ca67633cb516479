import { zeroAddress, zeroHash } from 'viem'
import { isFields } from '../../protocol/fields.js'
import type { Payment } from '../../protocol/payment.js'
import { describeForeignMethod } from '../../schemes/transferMethod.js'
import { readAddress } from './abi/address.js'
import { readWord } from './abi/words.js'
import { authorizationState } from './exact/call.js'
import { readJudge } from './exact/judge.js'
import { readExactProof } from './exact/payload.js'
import { createPreparer, type Prepared } from './exact/prepare.js'
import {
  type CreateScheme,
  createPaymentMethod,
  type MethodDependencies,
  type PaymentMethod,
  toRefusal,
} from './paymentMethod.js'
import { createPermit2Method } from './permit2/exact/method.js'
import { isPermitRow } from './permit2/judge.js'
import { listProxyExtensions } from './permit2/presence.js'
import type { Rpc } from './rpc/rpc.js'
import { encodeStateCall, formatAuthorizationId } from './tokens/authorizations.js'
import { askTokensOnce, createDescribeToken, domainOf } from './tokens/tokenRegistry.js'
import { builderCodeExtension } from './transactions/builderCodes.js'

/**
 * `exact` on one network by EIP-3009 and by Permit2. `extra.assetTransferMethod` decides, else the form of the payload;
 * after a crash, the journal row.
 */
export const createExactScheme: CreateScheme = (dependencies) => {
  const { network, opened, rpc, tokens, routers, proxies } = dependencies
  const { exact: presence } = proxies
  const eip3009 = createAuthorizationMethod(dependencies)
  const permit2 = createPermit2Method({ ...dependencies, router: routers.shared })
  const hasAuthorizations = createAuthorizationSupport(rpc)
  const describeToken = createDescribeToken(network, tokens)
  const methodOf = (payment: Payment): PaymentMethod => (isPermit2(payment) ? permit2 : eip3009)
  const defaultAsset = network.tokens[0]?.address

  /**
   * Domain of the default token, for clients that sign with the kind's. Servers of `@dexterai/x402` copy it onto any
   * token; verify refuses another token's payment then, as without it, since their clients assume "USD Coin".
   * Undefined where the token is missing.
   */
  const describeDefaultDomain = () => {
    const token = defaultAsset === undefined ? null : tokens.peek(defaultAsset)
    return token === null ? undefined : domainOf(token)
  }

  return {
    kind: { scheme: 'exact', network: network.network },
    network: opened,
    journalClaims: null,
    settledState: null,
    describeKind: () => {
      const { names } = presence.peek() === true ? bothMethods : eip3009Only
      return {
        extra: { ...describeDefaultDomain(), assetTransferMethods: names },
        extensions: [builderCodeExtension, ...listProxyExtensions(presence)],
      }
    },
    identify: (payment) => methodOf(payment).identify(payment),
    verify: async (payment, options) => {
      options.trace?.expect(['transfer_method'])
      if (describeForeignMethod(payment, eip3009Only) === null) {
        options.trace?.note('transfer_method', null)
        return await eip3009.verify(payment, options)
      }
      const hasPermit2 = await presence.ask()
      const foreign = describeForeignMethod(payment, hasPermit2 ? bothMethods : eip3009Only)
      if (foreign === null) {
        options.trace?.note('transfer_method', null)
        return await methodOf(payment).verify(payment, options)
      }
      const isMissing = !hasPermit2 && isPermit2(payment)
      const reason = 'unsupported_asset_transfer_method'
      const message = isMissing ? `${foreign}: this network lacks Permit2 or x402's proxy for it` : foreign
      options.trace?.note('transfer_method', { reason, message })
      return toRefusal(readOwner(payment.proof), { reason, message })
    },
    describeAsset: async (asset) => {
      const terms = await describeToken(asset)
      const token = terms === null ? null : readAddress(terms.asset)
      if (terms === null || token === null || (await hasAuthorizations(token))) return terms
      // Clients sign by EIP-3009 unless the requirements name another method.
      return (await presence.ask())
        ? { ...terms, extra: { ...terms.extra, assetTransferMethod: 'permit2' } }
        : null
    },
    resolve: (settlement, signal, options) =>
      (isPermitRow(settlement) ? permit2 : eip3009).resolve(settlement, signal, options),
  }
}

const eip3009Only = { names: ['eip3009'], fields: ['authorization'] } as const
export const bothMethods = {
  names: ['eip3009', 'permit2'],
  fields: ['authorization', 'permit2Authorization'],
} as const

export const isPermit2 = ({ proof, requirements }: Payment): boolean => {
  const { assetTransferMethod: required } = requirements.extra
  if (required === 'permit2') return true
  return required == null && proof.authorization === undefined && proof.permit2Authorization !== undefined
}

export const readOwner = ({ permit2Authorization: fields }: Payment['proof']) =>
  isFields(fields) ? readAddress(fields.from) : null

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
    state: authorizationState,
  })

/** Whether a token has EIP-3009, which `authorizationState` shows. */
const createAuthorizationSupport = (rpc: Pick<Rpc, 'call'>) =>
  askTokensOnce(async (asset) => {
    const answer = await rpc.call({ to: asset, data: encodeStateCall(zeroAddress, zeroHash) })
    return answer.succeeds && readWord(answer.value) !== null
  })
