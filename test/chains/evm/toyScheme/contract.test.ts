import { evmSchemes } from '../../../../src/chains/evm/open.js'
import {
  describeSchemeContract,
  type PlannedPayment,
  type SchemeBody,
} from '../../../contracts/schemeContract.js'
import type { LocalChain } from '../../../support/evm/localChain.js'
import { deployToy, type Toy } from '../../../support/evm/toyCall.js'
import { openSchemeHarness } from '../schemeHarness.js'
import { createToyScheme } from './scheme.js'

/*
 * Adding a scheme takes a folder and one line. This folder is the one, and `listSchemes` below the other: the scheme
 * verifies and settles on a local chain, and keeps what every scheme must.
 */

const toys = new WeakMap<LocalChain, Toy>()

const openToy = (chain: LocalChain): Toy => {
  const toy = toys.get(chain)
  if (toy === undefined) throw new Error('The contract is not deployed')
  return toy
}

const plan = async (chain: LocalChain): Promise<PlannedPayment> => {
  const toy = openToy(chain)
  const { id, payer, payTo, value, firstSecond, lastSecond } = await toy.plan()
  const terms = {
    scheme: 'toy',
    network: `eip155:${chain.chainId}`,
    amount: String(value),
    asset: toy.address,
    payTo,
    maxTimeoutSeconds: 300,
    extra: {},
  }
  const write = (payload: object): SchemeBody => {
    const paymentPayload = { x402Version: 2, accepted: terms, payload }
    return { paymentPayload, paymentRequirements: terms }
  }
  const times = { firstSecond: String(firstSecond), lastSecond: String(lastSecond) }
  return {
    body: write({ id, payer, ...times }),
    respelled: write({ ...times, payer: `0x${payer.slice(2).toUpperCase()}`, id }),
    countReceived: () => toy.creditOf(payTo),
  }
}

describeSchemeContract('a scheme that was added to the EVM family', () =>
  openSchemeHarness(plan, {
    scheme: 'toy',
    prepare: async (chain) => {
      toys.set(chain, await deployToy(chain))
    },
    listSchemes: (chain) => [...evmSchemes, createToyScheme(openToy(chain).address)],
  }),
)
