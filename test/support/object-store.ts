import { randomUUID } from 'node:crypto'
import { isObject, type JsonObject } from '../../src/lib/json.ts'
import type { KubeObject, WatchEvent } from '../../src/ledger/kubernetes/cluster-api.ts'
import { ClusterError } from '../../src/ledger/kubernetes/cluster-error.ts'

/** What a cluster holds. */
export interface Objects {
  /** By path. */
  readonly objects: Map<string, KubeObject>
  /** Of the last write. */
  version: number
}

/** The objects of the Kubernetes API: versions and compare-and-set. Each function throws {@link ClusterError}. */
export function createObjectStore(state: Objects, onChange: (path: string, event: WatchEvent) => void) {
  function get(path: string): KubeObject {
    const object = state.objects.get(path)
    if (object === undefined) throw new ClusterError(`${path} not found`, 404)
    return object
  }

  function put(path: string, object: JsonObject, uid: string): KubeObject {
    state.version += 1
    const type = state.objects.has(path) ? 'MODIFIED' : 'ADDED'
    const name = path.slice(path.lastIndexOf('/') + 1)
    const metadata = { ...metaOf(object), name, uid, resourceVersion: String(state.version) }
    const stored = { ...object, metadata }
    state.objects.set(path, stored)
    onChange(path, { type, object: stored })
    return stored
  }

  return {
    get,
    list(collection: string) {
      return { items: objectsIn(state, collection), resourceVersion: String(state.version) }
    },
    create(collection: string, object: JsonObject): KubeObject {
      const { name, resourceVersion } = metaOf(object)
      const path = `${collection}/${typeof name === 'string' ? name : ''}`
      if (state.objects.has(path)) throw new ClusterError(`${path} already exists`, 409)
      if (resourceVersion !== undefined) throw new ClusterError('resourceVersion should not be set', 400)
      return put(path, object, randomUUID())
    },
    replace(path: string, object: JsonObject): KubeObject {
      const { uid, resourceVersion } = get(path).metadata
      const seen = metaOf(object)['resourceVersion']
      if (seen === undefined) throw new ClusterError('resourceVersion must be specified', 422)
      if (seen !== resourceVersion) throw new ClusterError('the object has been modified', 409)
      return put(path, object, uid)
    },
    remove(path: string): void {
      const object = get(path)
      state.version += 1
      state.objects.delete(path)
      const metadata = { ...object.metadata, resourceVersion: String(state.version) }
      onChange(path, { type: 'DELETED', object: { ...object, metadata } })
    },
  }
}

/** The objects of a collection, by name. */
export function objectsIn({ objects }: Objects, collection: string): readonly KubeObject[] {
  return [...objects]
    .filter(([path]) => isIn(path, collection))
    .map(([, object]) => object)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

export function isIn(path: string, collection: string): boolean {
  return path.slice(0, path.lastIndexOf('/')) === collection
}

function metaOf({ metadata }: JsonObject): JsonObject {
  return isObject(metadata) ? metadata : {}
}
