"""python -m weightrollout.controller"""

import sys

from weightrollout.controller.main import main

if __name__ == "__main__":
    sys.exit(main())
