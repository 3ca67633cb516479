import type { Clock } from '../../ports/clock.js'
import type { StreamStore } from '../../ports/streamStore.js'
import { readPage } from '../readPage.js'
import { getOwnStream } from './control.js'
import type { StreamUseCases } from './useCases.js'
import { viewStream, viewUpdate } from './viewStream.js'

export const createReadStreams = (
  store: Pick<StreamStore, 'find' | 'list'>,
  clock: Clock,
): Pick<StreamUseCases, 'getStream' | 'listStreams'> => ({
  getStream: async (actor, id) => viewUpdate(await getOwnStream(store, actor, id), clock.now()),

  listStreams: async (caller, { status = null, limit, cursor = null }) => {
    const query = { caller, state: status, after: cursor }
    const { items, next } = await readPage(
      limit,
      (count) => store.list({ ...query, limit: count }),
      ({ id }) => id,
    )
    return { streams: items.map(viewStream), ...next }
  },
})
