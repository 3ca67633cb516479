import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'
import { encodeAbiParameters, keccak256, toBytes, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { listen } from '../listen.mjs'
import { report, routesOf } from '../routes.mjs'

const fields = [
  ['address', 'operator'],
  ['address', 'payer'],
  ['address', 'receiver'],
  ['address', 'token'],
  ['uint120', 'maxAmount'],
  ['uint48', 'preApprovalExpiry'],
  ['uint48', 'authorizationExpiry'],
  ['uint48', 'refundExpiry'],
  ['uint16', 'minFeeBps'],
  ['uint16', 'maxFeeBps'],
  ['address', 'feeReceiver'],
  ['uint256', 'salt'],
]
const escrow = '0xf96815976523E00e65Be8f34cA5e64b4f41EB19c'
const captureTypes = {
  Capture: [
    ['bytes32', 'paymentInfoHash'],
    ['uint256', 'amount'],
    ['uint256', 'feeAmount'],
    ['address', 'feeReceiver'],
    ['uint256', 'expectedCapturableAmount'],
    ['uint256', 'expectedRefundableAmount'],
  ].map(([type, name]) => ({ type, name })),
}

const encode = (types, values) =>
  encodeAbiParameters(
    types.map((type) => ({ type })),
    values,
  )

const hashPaymentInfo = (chainId, info) => {
  const typeHash = keccak256(toBytes(`PaymentInfo(${fields.map((field) => field.join(' ')).join(',')})`))
  const types = ['bytes32', ...fields.map(([type]) => type)]
  const struct = keccak256(encode(types, [typeHash, ...fields.map(([, name]) => info[name])]))
  return keccak256(encode(['uint256', 'address', 'bytes32'], [BigInt(chainId), escrow, struct]))
}

/** The package has no server for the scheme: prices and tokens are those of its server for `exact`. */
class HoldingEvmScheme extends ExactEvmScheme {
  scheme = 'auth-capture'
  paymentFlows = { eip3009: { supported: ['escrow'], default: 'escrow' } }

  constructor({ chainId }, authorizer) {
    super()
    const now = Math.floor(Date.now() / 1_000)
    this.deadlines = { captureDeadline: now + 3_600, refundDeadline: now + 7_200 }
    this.chainId = chainId
    this.authorizer = authorizer
    this.enrichSettlementPayload = (context) => this.addCapture(context)
  }

  async enhancePaymentRequirements(requirements, kind, extensions) {
    const enhanced = await super.enhancePaymentRequirements(requirements, kind, extensions)
    const { assetTransferMethods: _, ...terms } = kind.extra
    const receiverAuthorizer = this.authorizer.address
    return { ...enhanced, extra: { ...enhanced.extra, ...terms, receiverAuthorizer, ...this.deadlines } }
  }

  /** What was held before the resource was served is captured after it. */
  async addCapture({ paymentPayload: { payload }, requirements, phase }) {
    if (phase !== 'after-handler') return undefined
    const { extra, amount } = requirements
    const info = {
      operator: extra.captureAuthorizer,
      payer: payload.authorization.from,
      receiver: requirements.payTo,
      token: requirements.asset,
      maxAmount: amount,
      preApprovalExpiry: Number(payload.authorization.validBefore),
      authorizationExpiry: extra.captureDeadline,
      refundExpiry: extra.refundDeadline,
      minFeeBps: extra.minFeeBps,
      maxFeeBps: extra.maxFeeBps,
      feeReceiver: extra.feeRecipient,
      salt: payload.salt,
    }
    const message = {
      paymentInfoHash: hashPaymentInfo(this.chainId, info),
      amount,
      feeAmount: 0,
      feeReceiver: zeroAddress,
      expectedCapturableAmount: amount,
      expectedRefundableAmount: 0,
    }
    const authorizerSignature = await this.authorizer.signTypedData({
      domain: {
        name: 'x402 Auth Capture Operator',
        version: '1',
        chainId: this.chainId,
        verifyingContract: extra.captureAuthorizer,
      },
      types: captureTypes,
      primaryType: 'Capture',
      message,
    })
    return {
      type: 'capture',
      paymentInfo: info,
      authorizerSignature,
      amount,
      fee: '0',
      feeReceiver: zeroAddress,
      expectedCapturableAmount: amount,
      expectedRefundableAmount: '0',
    }
  }
}

/** Has the price held before it serves, and captures it afterwards. */
export const openShop = async ({ facilitatorUrl, families: { evm } }) => {
  const authorizer = privateKeyToAccount(generatePrivateKey())
  const facilitator = new HTTPFacilitatorClient({ url: facilitatorUrl })
  const scheme = new HoldingEvmScheme(evm, authorizer)
  const server = new x402ResourceServer(facilitator).register(evm.network, scheme)
  const app = express()
  app.use(paymentMiddleware(routesOf({ evm }, 'auth-capture'), server))
  app.get('/{*path}', (_request, response) => response.json(report))
  return listen(app)
}
