import { type AptosChain, startAptosChain } from '../../support/aptos/aptosChain.js'
import {
  addressOf,
  aptosPayment,
  call,
  createAptosAccount,
  transferCall,
  usdt,
} from '../../support/aptos/payment.js'
import { readDirectBody } from '../../support/directScheme.js'
import { shiftedClock } from '../../support/shiftedClock.js'
import { openAptos, testnetEnvironment } from './openChain.js'

type ProvedPayment = Parameters<typeof aptosPayment>[0]

/** A payer with 25,000 units, a merchant and another account, on a chain of its own. */
export const openScene = async () => {
  const chain: AptosChain = await startAptosChain({ blockTimeMs: 20 })
  chain.createAsset(usdt)
  const clock = shiftedClock()
  const opened = await openAptos(testnetEnvironment(chain.url), { clock })
  const [payer, merchant, other] = [
    createAptosAccount(chain),
    createAptosAccount(chain),
    createAptosAccount(chain),
  ]
  const [from, payTo, elsewhere] = [addressOf(payer), addressOf(merchant), addressOf(other)]
  for (const owner of [from, elsewhere]) chain.mint(usdt, owner, 1_000_000_000n)
  return {
    scheme: opened.scheme,
    family: opened.chain,
    chain,
    clock,
    payer,
    merchant,
    other,
    from,
    payTo,
    elsewhere,
    pay: (amount = 10_000n) => call(chain, payer, transferCall(usdt, payTo, amount)),
    verify: (proved: Partial<ProvedPayment> & { readonly transaction: string }) =>
      opened.scheme.verify(readDirectBody(aptosPayment({ from, payTo, ...proved })), {
        isAwaited: () => true,
      }),
    close: async () => {
      await opened.close()
      await chain.stop()
    },
  }
}

export type Scene = Awaited<ReturnType<typeof openScene>>
