import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Ask } from '../../../src/chains/common/direct/node.js'
import { createRuntimes } from '../../../src/chains/polkadot/decoder.js'

let metadata: string

beforeAll(async () => {
  const module: unknown = await import('@polkadot/types-support/metadata/v15/asset-hub-polkadot-hex')
  const text = z.object({ default: z.string() }).parse(module).default
  metadata = `0x${text.slice(text.indexOf('6d657461'))}`
})

/** The last digits of a block's hash are the version of its runtime. */
const createNode = () => {
  let downloads = 0
  let isDown = false
  const ask: Ask = async (method, params, schema) => {
    if (isDown) throw new Error('down')
    const [hash] = z.tuple([z.string()]).parse(params)
    if (method === 'state_getRuntimeVersion') {
      const specVersion = Number(hash.slice(-4))
      return schema.parse({ specName: 'statemint', specVersion, transactionVersion: 1 })
    }
    downloads += 1
    return schema.parse(metadata)
  }
  return {
    ask,
    countDownloads: () => downloads,
    setDown: (value: boolean) => {
      isDown = value
    },
  }
}

const blockOf = (version: number) => `0x${String(version).padStart(64, '0')}`

describe('decoders of runtime versions', () => {
  it('are loaded once per version, however many look-ups need one', async () => {
    const { ask, countDownloads } = createNode()
    const runtimes = createRuntimes()
    const [first, second] = await Promise.all([
      runtimes.getDecoder(ask, blockOf(1)),
      runtimes.getDecoder(ask, blockOf(1)),
    ])
    expect(second).toBe(first)
    expect(await runtimes.getDecoder(ask, blockOf(1))).toBe(first)
    expect(await runtimes.getDecoder(ask, blockOf(2))).not.toBe(first)
    expect(countDownloads()).toBe(2)
  })

  it('are bounded: the oldest is forgotten', async () => {
    const { ask, countDownloads } = createNode()
    const runtimes = createRuntimes()
    for (const version of [1, 2, 3, 4]) await runtimes.getDecoder(ask, blockOf(version))
    await runtimes.getDecoder(ask, blockOf(4))
    expect(countDownloads()).toBe(4)
    await runtimes.getDecoder(ask, blockOf(1))
    expect(countDownloads()).toBe(5)
  })

  it('are loaded again after a failure', async () => {
    const { ask, setDown, countDownloads } = createNode()
    const runtimes = createRuntimes()
    setDown(true)
    await expect(runtimes.getDecoder(ask, blockOf(1))).rejects.toThrow('down')
    setDown(false)
    await runtimes.getDecoder(ask, blockOf(1))
    expect(countDownloads()).toBe(1)
  })
})
