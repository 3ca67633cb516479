import * as published from '@x402/evm'
import { type Abi, type AbiItem, keccak256, toEventSelector, toFunctionSelector, toHex } from 'viem'
import { formatAbiItem } from 'viem/utils'
import { describe, expect, it } from 'vitest'
import { exactProxyAddress } from '../../../../src/chains/evm/permit2/exact/payload.js'
import { permit2Abi, permit2Address, proxyAbi } from '../../../../src/chains/evm/permit2/payload.js'
import { uptoProxyAddress } from '../../../../src/chains/evm/permit2/upto/payload.js'
import { getArtifact, getPermit2Code } from '../../../support/contracts/artifacts.js'
import * as local from '../../../support/evm/permit2.js'

/*
 * The tests pay by the published code of Permit2, and through x402's proxies of our own source at the published addresses:
 * no package ships their code. Here they are held to what `@x402/evm` publishes of them; `docs/clients.md` lists what it
 * does not.
 */

/** Kind, selector or topic, and for functions the results and whether they may write. */
const describeItem = (item: AbiItem): string | null => {
  switch (item.type) {
    case 'function': {
      const results = item.outputs.map(({ type }) => type).join()
      return `function ${toFunctionSelector(item)} ${formatAbiItem(item)} ${item.stateMutability} (${results})`
    }
    case 'event':
      return `event ${toEventSelector(item)} ${formatAbiItem(item)} ${item.inputs.map(({ indexed }) => indexed === true)}`
    case 'error': {
      const signature = formatAbiItem(item)
      return `error ${toFunctionSelector(signature)} ${signature}`
    }
    default:
      return null
  }
}

const describeAbi = (abi: Abi): readonly string[] =>
  abi
    .flatMap((item) => {
      const text = describeItem(item)
      return text === null ? [] : [text]
    })
    .toSorted()

const proxies = [
  {
    name: 'ExactPermit2Proxy',
    abi: published.x402ExactPermit2ProxyABI,
    address: published.x402ExactPermit2ProxyAddress,
    ours: [exactProxyAddress, local.exactProxyAddress],
    witness: published.permit2WitnessTypes.Witness,
  },
  {
    name: 'UptoPermit2Proxy',
    abi: published.x402UptoPermit2ProxyABI,
    address: published.x402UptoPermit2ProxyAddress,
    ours: [uptoProxyAddress, local.uptoProxyAddress],
    witness: published.uptoPermit2WitnessTypes.Witness,
  },
] as const

describe.each(proxies)('$name of our own source', ({ name, abi, address, ours, witness }) => {
  it('has the selectors, results, events and errors of the published proxy, and no others', () => {
    expect(describeAbi(getArtifact(name).abi)).toEqual(describeAbi(abi))
  })

  it('stands at the published address', () => {
    expect(ours).toEqual([address, address])
  })

  it('has the witness that published clients sign', () => {
    const type = `Witness(${witness.map(({ type: of, name: field }) => `${of} ${field}`).join()})`
    // As constants of its code: the text, and its hash.
    const { bytecode } = getArtifact(name)
    expect(bytecode).toContain(keccak256(toHex(type)).slice(2))
    expect(Buffer.from(bytecode.slice(2), 'hex').toString('latin1')).toContain(type)
  })
})

describe('what the service knows of the contracts', () => {
  it("is published of x402's proxies", () => {
    const all = [...describeAbi(proxies[0].abi), ...describeAbi(proxies[1].abi)]
    expect(all).toEqual(expect.arrayContaining([...describeAbi(proxyAbi)]))
  })

  it.each(describeAbi(permit2Abi))("is in the code of Uniswap's Permit2: %s", (item) => {
    const [, selector = ''] = item.split(' ')
    expect(getPermit2Code()).toContain(selector.slice(2))
  })

  it('is the address of Permit2', () => {
    expect([permit2Address, local.permit2Address]).toEqual([
      published.PERMIT2_ADDRESS,
      published.PERMIT2_ADDRESS,
    ])
  })
})
