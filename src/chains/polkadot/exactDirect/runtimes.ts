import { setNewest } from '../../../concurrency/boundedMap.js'
import type { Ask } from '../../common/direct/node.js'
import { getMetadata, getRuntimeVersion } from '../rpc/rpc.js'
import type { RuntimeVersion } from '../rpc/wireShapes.js'
import { createDecoder, type Decoder } from './decoder.js'

/** Decoders by runtime version. */
export interface Runtimes {
  /** Decodes for the runtime in the state of this block, which executed the blocks built on it. */
  getDecoder(ask: Ask, parentHash: string): Promise<Decoder>
}

// An upgrade has two versions in use.
const maxVersions = 3

/** Concurrent look-ups share one download of the metadata, and one decoding. */
export const createRuntimes = (): Runtimes => {
  const decoders = new Map<string, Promise<Decoder>>()

  const load = async (ask: Ask, parentHash: string, version: RuntimeVersion): Promise<Decoder> =>
    createDecoder(await getMetadata(ask, parentHash), version)

  return {
    getDecoder: async (ask, parentHash) => {
      const version = await getRuntimeVersion(ask, parentHash)
      const name = [version.specName, version.specVersion, version.transactionVersion].join('/')
      const known = decoders.get(name)
      if (known !== undefined) return await known
      const loading = load(ask, parentHash, version)
      setNewest(decoders, name, loading, maxVersions)
      loading.catch(() => decoders.delete(name))
      return await loading
    },
  }
}
