import type { Blockchain } from '@acala-network/chopsticks-core'
import { z } from 'zod'

export type HexString = `0x${string}`

export const hex = z.custom<HexString>((value) => typeof value === 'string' && value.startsWith('0x'))

const specShape = z.looseObject({
  genesis: z.object({ raw: z.object({ top: z.record(z.string(), hex) }) }),
})

// What chopsticks prints otherwise: every block and every extrinsic.
const quietly = async <Result>(load: () => Promise<Result>): Promise<Result> => {
  const before = process.env.LOG_LEVEL
  process.env.LOG_LEVEL = 'fatal'
  try {
    return await load()
  } finally {
    if (before === undefined) delete process.env.LOG_LEVEL
    else process.env.LOG_LEVEL = before
  }
}

export const loadChopsticks = () => quietly(() => import('@acala-network/chopsticks-core'))

/**
 * The runtime of Asset Hub from its published chain spec, at block 1. It answers with the genesis hash of a known network,
 * because clients sign it and the service checks it.
 */
export const openRuntime = async (genesisHash: HexString): Promise<Blockchain> => {
  const { BuildBlockMode, GenesisProvider, setup } = await loadChopsticks()
  const { chainSpec } = await import('@substrate/connect-known-chains/rococo_v2_2_asset_hub')
  const spec = specShape.parse(JSON.parse(chainSpec))
  // The runtime writes the parent hash of block 1 to System.BlockHash(0), which signatures bind.
  class KnownGenesis extends GenesisProvider {
    override get blockHash(): HexString {
      return genesisHash
    }
  }
  return await setup({
    genesis: new KnownGenesis({
      id: 'asset-hub',
      name: 'Asset Hub',
      properties: { ss58Format: 42, tokenDecimals: 12, tokenSymbol: 'WND' },
      genesis: spec.genesis,
    }),
    buildBlockMode: BuildBlockMode.Manual,
    // Otherwise forged signatures pass.
    mockSignatureHost: false,
  })
}
