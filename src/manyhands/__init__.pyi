from manyhands.concurrency import run_with_concurrency as run_with_concurrency
from manyhands.errors import ManyhandsError as ManyhandsError
from manyhands.surfaces.python.engine_opening import Engine as Engine
from manyhands.surfaces.python.map_results import ItemFailed as ItemFailed
from manyhands.surfaces.python.map_results import MapFailed as MapFailed
from manyhands.surfaces.python.map_results import Outcome as Outcome
from manyhands.surfaces.python.map_results import Results as Results
from manyhands.surfaces.python.task_settings import task as task

__version__: str
