"""The scripted model of `onevalet.testing`, as the project's own tests know it.

`python -m tests.scripted_model --port 0 --script echo` serves one from a process of its own; its first line
of output is JSON with the url.
"""

from onevalet.testing.scripted_model import ModelCall as ModelCall
from onevalet.testing.scripted_model import Reply as Reply
from onevalet.testing.scripted_model import Script as Script
from onevalet.testing.scripted_model import ScriptedModel as ScriptedModel
from onevalet.testing.scripted_model import calls as calls
from onevalet.testing.scripted_model import complain as complain
from onevalet.testing.scripted_model import cut as cut
from onevalet.testing.scripted_model import echo as echo
from onevalet.testing.scripted_model import error as error
from onevalet.testing.scripted_model import hang as hang
from onevalet.testing.scripted_model import main
from onevalet.testing.scripted_model import malformed as malformed
from onevalet.testing.scripted_model import text as text
from onevalet.testing.scripted_model import text_of as text_of

if __name__ == "__main__":
    main()
