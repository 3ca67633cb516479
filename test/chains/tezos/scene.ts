import { readDirectBody } from '../../support/directScheme.js'
import { shiftedClock } from '../../support/shiftedClock.js'
import { batchOf, createTezosAccount, pay, tezosPayment, usdt } from '../../support/tezos/payment.js'
import { startTezosChain } from '../../support/tezos/tezosChain.js'
import { octezAt, openTezos, tzktAt } from './openChain.js'

type ProvedPayment = Parameters<typeof tezosPayment>[0]

/** A payer with tokens, a merchant and another account, on a chain of its own that is read by either source. */
export const openScene = async () => {
  const chain = await startTezosChain({ blockTimeMs: 20 })
  chain.createToken(usdt)
  const clock = shiftedClock()
  const [octez, tzkt] = await Promise.all([
    openTezos(octezAt(chain.url), { clock }),
    openTezos(tzktAt(chain.tzktUrl), { clock }),
  ])
  const [payer, merchant, other] = await Promise.all([
    createTezosAccount(chain),
    createTezosAccount(chain),
    createTezosAccount(chain),
  ])
  const [from, payTo, elsewhere] = [payer.address, merchant.address, other.address]
  for (const owner of [from, elsewhere]) chain.mint(usdt, owner, 100_000_000n)
  const verifyBy = (
    source: 'octez' | 'tzkt',
    proved: Partial<ProvedPayment> & { readonly transaction: string },
  ) =>
    (source === 'octez' ? octez : tzkt).scheme.verify(
      readDirectBody(tezosPayment({ from, payTo, ...proved })),
      {
        isAwaited: () => true,
      },
    )
  return {
    chain,
    clock,
    octez,
    tzkt,
    payer,
    merchant,
    other,
    from,
    payTo,
    elsewhere,
    pay: (amount: bigint | number = 10_000n) => pay(chain, payer, [batchOf(from, { to: payTo, amount })]),
    verifyBy,
    /** State of a transaction; verify would wait for it. */
    findState: async (source: 'octez' | 'tzkt', transaction: string) => {
      const { chain: reader } = source === 'octez' ? octez : tzkt
      const notBefore = new Date(clock.now().getTime() - 120_000)
      const shared = { asset: `${usdt}:0`, from, to: payTo, amount: 10_000n, hints: {} }
      return (await reader.lookUp({ transaction, notBefore, ...shared })).state
    },
    close: async () => {
      await Promise.all([octez.close(), tzkt.close()])
      await chain.stop()
    },
  }
}

export type Scene = Awaited<ReturnType<typeof openScene>>
