import {
  describeSchemeContract,
  type PlannedPayment,
  type SchemeBody,
} from '../../../contracts/schemeContract.js'
import { randomAddress } from '../../../support/evm/authorization.js'
import type { LocalChain } from '../../../support/evm/localChain.js'
import { type ExactPaymentBody, exactPayment } from '../../../support/evm/payment.js'
import { toParityV } from '../../../support/evm/signatureForms.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { openSchemeHarness } from '../schemeHarness.js'

const upperCase = (hex: string): string => `0x${hex.slice(2).toUpperCase()}`

/** The same authorization: other letter case of addresses and nonce, reversed keys, v as 0 or 1. */
const respell = ({ paymentPayload, paymentRequirements }: ExactPaymentBody): SchemeBody => {
  const { accepted, payload, ...rest } = paymentPayload
  const { from, to, nonce, ...values } = payload.authorization
  const authorization = { nonce: upperCase(nonce), ...values, to: upperCase(to), from: from.toLowerCase() }
  return {
    paymentPayload: {
      ...rest,
      payload: { authorization, signature: toParityV(payload.signature) },
      accepted,
    },
    paymentRequirements: { ...paymentRequirements, asset: upperCase(paymentRequirements.asset) },
  }
}

const plan = async (chain: LocalChain): Promise<PlannedPayment> => {
  const wallet = createEoa()
  const payTo = randomAddress()
  await chain.mint(wallet.address, 10_000n)
  const body = await exactPayment({ chain, wallet, payTo, amount: 10_000n })
  return { body, respelled: respell(body), countReceived: () => chain.balanceOf(payTo) }
}

describeSchemeContract('exact on EVM by EIP-3009', () => openSchemeHarness(plan))
