import { zeroAddress } from 'viem'
import type { Payment } from '../../../protocol/payment.js'
import { type CreateScheme, createPaymentMethod, type PaymentMethod, toRefusal } from '../paymentMethod.js'
import { createDescribeToken } from '../tokens/tokenRegistry.js'
import { createHoldAgency, readHoldAuthorizers } from './agency.js'
import { createPrepareCollection, identifyCollection } from './collect.js'
import { describeCall, readJudge } from './judge.js'
import { createPrepareLifecycle, identifyLifecycle } from './lifecycle.js'
import { isLifecycle } from './payload.js'
import type { Prepare, PreparedCapture } from './prepared.js'

/**
 * `auth-capture` on one network: the payer signs once for a maximum, which the escrow holds until the receiver captures it,
 * or pays out at once. An account of ours is the operator, the only sender that the escrow accepts.
 */
export const createAuthCaptureScheme: CreateScheme = (given) => {
  const holdAuthorizers = readHoldAuthorizers(given.family.holdAuthorizerKeys)
  const dependencies = { ...given, holdAuthorizers }
  const { network, opened, tokens, accounts, escrow } = given
  const describeToken = createDescribeToken(network, tokens)
  const createMethod = (prepare: Prepare, identify: typeof identifyCollection): PaymentMethod =>
    createPaymentMethod<PreparedCapture>(dependencies, {
      prepare,
      isWalletAsked: (prepared) => prepared.isWalletAsked,
      findFailedCheck: (candidate) => candidate.recheck(candidate),
      identify: (payment) => identify(network, payment),
      describe: ({ judged }) => describeCall(judged),
      readJudge,
    })
  const collection = createMethod(createPrepareCollection(dependencies), identifyCollection)
  const lifecycle = createMethod(createPrepareLifecycle(dependencies), identifyLifecycle)
  const methodOf = ({ proof }: Payment): PaymentMethod => (isLifecycle(proof) ? lifecycle : collection)

  const [operator] = accounts
  /** What servers copy into their requirements. We take no fee. */
  const terms = {
    captureAuthorizer: operator,
    operatorType: 'delegated',
    feeRecipient: zeroAddress,
    minFeeBps: 0,
    maxFeeBps: 0,
    // Only a key of ours: servers with a key of their own state its address.
    ...(holdAuthorizers[0] === undefined ? {} : { receiverAuthorizer: holdAuthorizers[0].address }),
  }

  return {
    kind: { scheme: 'auth-capture', network: network.network },
    network: opened,
    journalClaims: null,
    agency: createHoldAgency(dependencies),
    settledState: null,
    describeKind: () =>
      escrow.peek() === true
        ? { extra: { ...terms, assetTransferMethods: ['eip3009', 'permit2'] }, extensions: [] }
        : null,
    describeAsset: async (asset) => {
      if (!(await escrow.ask())) return null
      const described = await describeToken(asset)
      return described === null ? null : { ...described, extra: { ...described.extra, ...terms } }
    },
    identify: (payment) => methodOf(payment).identify(payment),
    // What was held before a pause must not fall back to the payer because of it.
    continues: ({ proof }) => isLifecycle(proof),
    verify: async (payment, options) => {
      const { trace } = options
      if (await escrow.ask()) return await methodOf(payment).verify(payment, options)
      const unoffered = { reason: 'unsupported_scheme', message: unofferedMessage } as const
      trace?.note('scheme_served', unoffered)
      return toRefusal(null, unoffered)
    },
    // The row alone says which call of the escrow it stands for.
    resolve: collection.resolve,
  }
}

const unofferedMessage = 'auth-capture: this network lacks the escrow; /supported does not list it'
