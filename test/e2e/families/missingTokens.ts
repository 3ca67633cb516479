import { afterEach, describe, expect, it } from 'vitest'
import { worlds } from '../../demo/worlds/index.js'
import { type OpenNetwork, openNetwork } from '../../support/openNetwork.js'
import { getWorld, type OpenedWorlds } from './openedWorlds.js'

interface Tokens {
  readonly variable: string
  /** Well formed, and not on the chain of the test. */
  readonly missing: string
  /** Absent: as the world's environment lists it. */
  readonly present?: string
}

const tokens: Readonly<Record<string, Tokens>> = {
  evm: {
    variable: 'EVM_TOKENS_84532',
    missing: '0x00000000000000000000000000000000000a11ce',
    present: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  },
  solana: {
    variable: 'SOLANA_TOKENS_mainnet',
    missing: 'Vote111111111111111111111111111111111111111',
    present: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  },
  ton: { variable: 'TON_TOKENS_testnet', missing: 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs' },
  tron: { variable: 'TRON_TOKENS_nile', missing: 'TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs' },
  near: { variable: 'NEAR_TOKENS_testnet', missing: 'missing.testnet' },
  aptos: { variable: 'APTOS_TOKENS_testnet', missing: `0x${'0a'.repeat(32)}` },
  tezos: { variable: 'TEZOS_TOKENS_ghostnet', missing: 'KT1PWx2mnDueood7fEmfbBDKx1D9BAnnXitn:0' },
  polkadot: { variable: 'POLKADOT_TOKENS_westend', missing: '424242' },
  stacks: {
    variable: 'STACKS_TOKENS_testnet',
    missing: 'ST1PQHQKV0RJXZFY1DGX8MNSNYVE3VGZJSRTPGZGM.missing',
  },
  cosmos: { variable: 'COSMOS_TOKENS_grand', missing: 'umissing', present: 'uusdc' },
}

export const describeMissingTokens = (shared: OpenedWorlds): void =>
  describe.each(Object.keys(worlds))('tokens of %s', (family) => {
    const named = tokens[family]
    if (named === undefined) throw new Error(`${family}: its tokens are missing`)
    let opened: OpenNetwork | null = null

    afterEach(async () => {
      await opened?.close()
      opened = null
    })

    const open = async (list: readonly string[]) => {
      const { network, environment } = getWorld(shared, family)
      opened = await openNetwork(network, { ...environment, [named.variable]: list.join(',') })
      return opened.opened.health().find((each) => each.network === network)
    }
    const present = () => named.present ?? getWorld(shared, family).environment[named.variable] ?? ''

    it('does not serve a network that has none of its tokens, and names the variable', async () => {
      expect(await open([named.missing])).toMatchObject({
        isServing: false,
        isRpcReachable: true,
        problem: `the network has none of the tokens: check ${named.variable}`,
      })
    })

    it('serves a network that has one of its tokens', async () => {
      expect(await open([named.missing, present()])).toMatchObject({ isServing: true, problem: null })
    })
  })
