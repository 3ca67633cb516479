import {
  describeSchemeContract,
  type PlannedPayment,
  type SchemeBody,
} from '../../../contracts/schemeContract.js'
import { deployAuthCapture } from '../../../support/evm/authCapture.js'
import {
  asHex,
  type CaptureBody,
  type Hold,
  type HoldPlan,
  planHold,
  readHold,
  signCharge,
} from '../../../support/evm/holds.js'
import type { LocalChain } from '../../../support/evm/localChain.js'
import { toParityV } from '../../../support/evm/signatureForms.js'
import { openSchemeHarness } from '../schemeHarness.js'

const upperCase = (value: unknown): string => `0x${asHex(value).slice(2).toUpperCase()}`

/** The same payment: other letter case, reversed keys, numbers in another form. */
const respell = ({ paymentPayload, paymentRequirements }: CaptureBody): SchemeBody => {
  const { signature, salt, saltNonce, authorization, permit2Authorization, ...charge } =
    paymentPayload.payload
  const transfer = Object(authorization)
  const { permitted, ...permit } = Object(permit2Authorization)
  const transfers =
    permit2Authorization === undefined
      ? {
          authorization: {
            ...transfer,
            nonce: upperCase(transfer.nonce),
            validAfter: 0,
            validBefore: Number(transfer.validBefore),
            to: upperCase(transfer.to),
            from: String(transfer.from).toLowerCase(),
          },
        }
      : {
          permit2Authorization: {
            ...permit,
            deadline: `0${permit.deadline}`,
            spender: upperCase(permit.spender),
            permitted: { amount: Number(permitted.amount), token: String(permitted.token).toLowerCase() },
            from: upperCase(permit.from),
          },
        }
  const isCharge = charge.authorizerSignature !== undefined
  return {
    paymentPayload: {
      ...paymentPayload,
      payload: {
        ...(isCharge ? { ...charge, authorizerSignature: upperCase(charge.authorizerSignature) } : {}),
        ...transfers,
        saltNonce: String(BigInt(asHex(saltNonce))),
        salt: upperCase(salt),
        // The receiver signs for a charge by the payer's signature in the form that it has.
        signature: isCharge ? upperCase(signature) : toParityV(asHex(signature)),
      },
    },
    paymentRequirements: { ...paymentRequirements, asset: upperCase(paymentRequirements.asset) },
  }
}

const planFor = async (chain: LocalChain, changes: HoldPlan): Promise<Hold> => {
  const [operator] = chain.facilitators
  if (operator === undefined) throw new Error('The chain has no facilitator')
  return await planHold(chain, operator.address, changes)
}

const prepare = (chain: LocalChain) => deployAuthCapture(chain.url)
const abilities = {
  unreadableReason: 'invalid_auth_capture_evm_payload_format',
  // What the payer signs has no binding without it.
  absenceReasons: { saltNonce: 'invalid_auth_capture_evm_salt_binding_mismatch' },
} as const

for (const method of ['eip3009', 'permit2'] as const) {
  const planHeld = async (chain: LocalChain): Promise<PlannedPayment> => {
    const hold = await planFor(chain, { method })
    const countReceived = async () => (await readHold(chain, hold)).capturableAmount
    return { body: hold.body, respelled: respell(hold.body), countReceived }
  }

  describeSchemeContract(
    `a hold of auth-capture by ${method}`,
    () => openSchemeHarness(planHeld, { scheme: 'auth-capture', prepare }),
    { ...abilities, isHold: true },
  )
}

const planCharge = async (chain: LocalChain): Promise<PlannedPayment> => {
  const hold = await planFor(chain, { flow: 'authorization' })
  const body = await signCharge(hold, { chainId: chain.chainId })
  return { body, respelled: respell(body), countReceived: () => chain.balanceOf(hold.payTo) }
}

describeSchemeContract(
  'a charge of auth-capture by eip3009',
  () => openSchemeHarness(planCharge, { scheme: 'auth-capture', prepare }),
  abilities,
)
