import type { Address } from 'viem'
import {
  describeSchemeContract,
  type PlannedPayment,
  type SchemeBody,
} from '../../../contracts/schemeContract.js'
import type { LocalChain } from '../../../support/evm/localChain.js'
import { type UptoPaymentBody, uptoPayment } from '../../../support/evm/upto.js'
import { deployUptoRouter } from '../../../support/evm/uptoRouter.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { openSchemeHarness } from '../schemeHarness.js'

const upperCase = (hex: string): string => `0x${hex.slice(2).toUpperCase()}`

/** The same permit: other letter case, reversed keys, the signature as 65 bytes with v as 0 or 1. */
const respell = ({ paymentPayload, paymentRequirements }: UptoPaymentBody): SchemeBody => {
  const { accepted, payload, ...rest } = paymentPayload
  const { owner, spender, nonce, ...values } = payload.authorization
  const { signature } = payload
  if (typeof signature === 'string') throw new Error('The signature is not in parts')
  const parity = (signature.v - 27).toString().padStart(2, '0')
  return {
    paymentPayload: {
      ...rest,
      payload: {
        paymentNonce: upperCase(payload.paymentNonce),
        authorization: {
          ...values,
          nonce: String(nonce),
          spender: spender.toLowerCase(),
          owner: upperCase(owner),
        },
        signature: `${signature.r}${signature.s.slice(2)}${parity}`,
      },
      accepted,
    },
    paymentRequirements: { ...paymentRequirements, asset: upperCase(paymentRequirements.asset) },
  }
}

const routers = new WeakMap<LocalChain, Address>()

const plan = async (chain: LocalChain): Promise<PlannedPayment> => {
  const router = routers.get(chain)
  if (router === undefined) throw new Error('The router is not deployed')
  const wallet = createEoa()
  const payTo = createEoa().address
  await chain.mint(wallet.address, 10_000n)
  const body = await uptoPayment({ chain, router, wallet, payTo })
  return { body, respelled: respell(body), countReceived: () => chain.balanceOf(payTo) }
}

describeSchemeContract(
  'upto on EVM by permit',
  () =>
    openSchemeHarness(plan, {
      scheme: 'upto',
      prepare: async (chain) => {
        routers.set(chain, await deployUptoRouter(chain))
      },
    }),
  { settlesPart: true },
)
